"""Emits a plan as one C file: a function for each group and an entry that calls them."""

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from hashlib import sha256

from xeforge.fusion.emit.c import contraction
from xeforge.fusion.emit.c import nest
from xeforge.fusion.emit.c import pointwise
from xeforge.fusion.emit.c import rows
from xeforge.fusion.emit.c.kernel import Context
from xeforge.fusion.emit.c.kernel import Kernel
from xeforge.fusion.emit.c.kernel import described
from xeforge.fusion.emit.c.kernel import extra
from xeforge.fusion.emit.c.kernel import head
from xeforge.fusion.emit.c.kernel import pointer
from xeforge.fusion.emit.c.memory import aligned
from xeforge.fusion.emit.c.memory import lay_out
from xeforge.fusion.emit.c.numbers import number
from xeforge.fusion.emit.c.runtime import HEAD
from xeforge.fusion.emit.c.runtime import used_by
from xeforge.fusion.emit.c.target import CpuTarget
from xeforge.fusion.ir import Array
from xeforge.fusion.plan import Family
from xeforge.fusion.plan import Group
from xeforge.fusion.plan import Plan

FAMILIES: Mapping[Family, Callable[[Group, Context], Kernel]] = {
    "pointwise": pointwise.emit,
    "rows": rows.emit,
    "contraction": contraction.emit,
    "nest": nest.emit,
}

FLAGS = ("-std=gnu11", "-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast")
"""How emitted files are compiled: NaN and infinities keep their meaning, signs of zero too."""


@dataclass(frozen=True, slots=True)
class CSource:
    """A C file that stands alone.

    Attributes:
        functions: The groups and the entry, without the functions that they call.
        entry: ``int entry(const void *const *given, void *const *results)``; 0, or 1 when there
            is no memory.
        given: Inputs and parameters that it takes, in order.
        results: Outputs that it fills, in order.
        target: What the processor must have.
    """

    functions: str
    entry: str
    given: tuple[Array, ...]
    results: tuple[Array, ...]
    target: CpuTarget

    @property
    def text(self) -> str:
        """The whole file."""
        return joined((self,))

    @property
    def flags(self) -> tuple[str, ...]:
        """Arguments of the compiler."""
        return (*FLAGS, f"-march={self.target.march}", "-fopenmp")


def joined(sources: Sequence[CSource]) -> str:
    """Return one file with several entries, all of one target."""
    functions = "\n".join(each.functions for each in sources)
    target = sources[0].target
    needs = ", ".join(target.flags) or "nothing beyond x86-64"
    flags = " ".join(sources[0].flags)
    top = f"/* Needs {needs}.\n * Compile with: cc {flags} -shared -fPIC FILE -lm\n */\n"
    return f"{top}{HEAD}\n{used_by(functions)}\n{functions}"


def emit(plan: Plan, target: CpuTarget, *, entry: str = "xf_run") -> CSource:
    """Emit all groups.

    Args:
        plan: Well-formed.
        target: Decides on vector widths and tile sizes.
        entry: Name of the entry; names of all functions of the plan start with it.

    Raises:
        BadRequest: A dtype has no form in C.
    """
    # What stores nothing is read by nobody.
    plan = replace(plan, groups=tuple(each for each in plan.groups if each.stored))
    arrays = plan.program.arrays_by_name()
    context = Context(arrays, target)
    kernels = [FAMILIES[group.family](group, context) for group in plan.groups]
    names = [f"{entry}_{at}_{group.name}" for at, group in enumerate(plan.groups)]
    texts = [
        f"{described(group)}\n{head(name, group, arrays, kernel)}\n{kernel.body}"
        for name, group, kernel in zip(names, plan.groups, kernels, strict=True)
    ]
    given = tuple(each for each in plan.program.arrays if each.role in {"input", "parameter"})
    ordered = sorted(given, key=lambda each: (each.role != "input", _place(plan, each.name)))
    results = tuple(arrays[name] for name in plan.program.outputs)
    texts.append(_entry(plan, entry, names, kernels, (tuple(ordered), results)))
    return CSource("\n".join(texts), entry, tuple(ordered), results, target)


def fingerprint(text: str, flags: Sequence[str]) -> str:
    """Return a name for what a file and its flags compile to."""
    return sha256("\0".join((text, *flags)).encode()).hexdigest()[:24]


def _place(plan: Plan, name: str) -> int:
    inputs = plan.program.inputs
    return inputs.index(name) if name in inputs else 0


def _entry(
    plan: Plan,
    entry: str,
    names: Sequence[str],
    kernels: Sequence[Kernel],
    ends: tuple[tuple[Array, ...], tuple[Array, ...]],
) -> str:
    arrays = plan.program.arrays_by_name()
    layout = lay_out(plan)
    work = aligned(max((each.work_bytes for each in kernels), default=0))
    scratch = aligned(max((each.scratch_bytes for each in kernels), default=0))
    lines = [
        f"int {entry}(const void *const *given, void *const *results)",
        "{",
        f"    const size_t shared = {layout.size_bytes + work + 64};",
        f"    char *arena = xf_arena(shared + (size_t)omp_get_max_threads() * {scratch});",
        "    if (arena == NULL) return 1;",
        f"    char *work = arena + {layout.size_bytes};",
        f"    char *scratch = work + {work};",
    ]
    for kind, listed in zip(("given", "results"), ends, strict=True):
        const = "const " if kind == "given" else ""
        lines += [
            f"    {const}{number(each.dtype).stored} *{pointer(each.name)} = {kind}[{at}];"
            for at, each in enumerate(listed)
        ]
    lines += [
        f"    {number(arrays[name].dtype).stored} *{pointer(name)} = (void *)(arena + {offset});"
        for name, offset in layout.offsets.items()
    ]
    for name, group, kernel in zip(names, plan.groups, kernels, strict=True):
        passed = [pointer(each) for each in (*group.given(), *group.stored)]
        lines.append(f"    {name}({', '.join((*passed, *extra(kernel)))});")
    return "\n".join((*lines, "    return 0;", "}")) + "\n"
