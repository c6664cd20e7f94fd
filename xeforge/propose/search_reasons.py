"""Says in one sentence what a setting changes and why that may help."""

from collections.abc import Mapping

from xeforge.propose.search_moves import value_of
from xeforge.source.knob_roles import Role
from xeforge.source.knobs import Knob

_UP = {
    Role.M: "fewer reloads of the right operand",
    Role.N: "fewer reloads of the left operand",
    Role.K: "fewer, longer steps along the depth",
    Role.GROUP: "more operands shared in the cache by neighbouring programs",
    Role.BLOCK: "more contiguous elements in flight per program",
    Role.ROWS: "more rows in flight per program",
    Role.WARPS: "more threads share one tile",
    Role.STAGES: "loads start further ahead of their use",
}
_DOWN = {
    Role.M: "more programs to fill the device",
    Role.N: "more programs to fill the device",
    Role.K: "less on-chip memory per program",
    Role.GROUP: "a shorter detour in program order",
    Role.BLOCK: "more programs to fill the device",
    Role.ROWS: "fewer registers per program",
    Role.WARPS: "more work and registers per thread",
    Role.STAGES: "less on-chip memory per program, so more programs at once",
}


def reason(knobs: tuple[Knob, ...], values: Mapping[str, int]) -> str:
    """Describe a change of settings, e.g. ``BLOCK_M 32 -> 128: fewer reloads of ...``.

    Args:
        knobs: All knobs of the kernel with their present values.
        values: Values that the change sets.
    """
    changes: list[str] = []
    reasons: dict[Role, str] = {}
    for knob in knobs:
        if knob.name not in values or values[knob.name] == knob.value:
            continue
        new = values[knob.name]
        before = "default" if knob.value is None else str(knob.value)
        if knob.choices:
            before = "autotuned"
        changes.append(f"{knob.name} {before} -> {new}")
        table = _UP if new > value_of(knob) else _DOWN
        if new != value_of(knob) and knob.role in table:
            reasons[knob.role] = table[knob.role]
    if reasons.get(Role.M) == _UP[Role.M] and reasons.get(Role.N) == _UP[Role.N]:
        reasons[Role.M] = "fewer reloads of both operands"
        del reasons[Role.N]
    shared = sorted({name for each in knobs if each.name in values for name in each.shared_with})
    also = f" (also in {', '.join(shared)})" if shared else ""
    why = ", ".join(dict.fromkeys(reasons.values())) or "another point of the search"
    return f"{knobs[0].kernel}: {', '.join(changes) or 'one configuration'}{also}: {why}"
