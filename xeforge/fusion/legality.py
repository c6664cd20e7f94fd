"""May this order replace that one? The answer is yes, or a pair of points that shows why not."""

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

from xeforge.fusion import isl
from xeforge.fusion.affine import Affine
from xeforge.fusion.affine import number
from xeforge.fusion.deps import flow_dependences
from xeforge.fusion.ir import Program


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A point that would read an element which is not there yet.

    Attributes:
        array: What is read.
        source: Statement that writes it.
        source_point: Where it writes too late; one value per axis.
        target: Statement that reads it.
        target_point: Where it reads.
    """

    array: str
    source: str
    source_point: Mapping[str, int]
    target: str
    target_point: Mapping[str, int]

    def __str__(self) -> str:
        return (
            f"{self.target}{_point(self.target_point)} reads what "
            f"{self.source}{_point(self.source_point)} has not written to {self.array} yet"
        )


def may_reorder(program: Program, order: Sequence[str]) -> Counterexample | None:
    """Say whether the statements, each run whole, may run in this order; None means yes.

    Args:
        program: Well-formed.
        order: Each name of a statement once.

    Raises:
        ValueError: A statement is missing, unknown or named twice.
    """
    if sorted(order) != sorted(each.name for each in program.statements):
        raise ValueError("an order names each statement once")
    return may_schedule(program, {name: (number(time),) for time, name in enumerate(order)})


def may_schedule(program: Program, times: Mapping[str, Sequence[Affine]]) -> Counterexample | None:
    """Say whether every point of every statement may run at the time given; None means yes.

    Args:
        program: Well-formed.
        times: For each statement, expressions in its axes, compared lexicographically, as many
            for each. Points at equal times have no order: one may not need the other.

    Raises:
        ValueError: A statement has no times, or another number of them.
        TooHard: The relation of a dependence took more work than it may.
    """
    statements = {each.name: each for each in program.statements}
    if set(times) != set(statements) or len({len(each) for each in times.values()}) > 1:
        raise ValueError("each statement has times, and as many as the others")
    for each in flow_dependences(program):
        pair = isl.late_pair(
            each.relation,
            (statements[each.source], times[each.source]),
            (statements[each.target], times[each.target]),
        )
        if pair is not None:
            return Counterexample(each.access.array, each.source, pair[0], each.target, pair[1])
    return None


def _point(values: Mapping[str, int]) -> str:
    return f"[{', '.join(f'{name}={value}' for name, value in values.items())}]"
