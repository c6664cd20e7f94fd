"""Recipes of test inputs: declared, shrunk, ragged and unusual ones, with seeds."""

from collections.abc import Collection
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace
from hashlib import blake2b
from typing import Literal

from xeforge.domain.case import Case
from xeforge.domain.case import CaseKind
from xeforge.domain.case import Fill
from xeforge.domain.dtype import find_dtype
from xeforge.domain.problem import Argument
from xeforge.domain.problem import Problem
from xeforge.domain.problem import Workload
from xeforge.verify import shrink
from xeforge.verify.resize import Sizes
from xeforge.verify.resize import element_count
from xeforge.verify.resize import input_dims
from xeforge.verify.resize import relations_of
from xeforge.verify.resize import repaired
from xeforge.verify.resize import resized
from xeforge.verify.resize import sizes_of
from xeforge.verify.resize import with_argument

Purpose = Literal["audit", "candidate", "confirm"]

INTERPRETED_PREFIX = "interpreted/"
"""Put before ids of cases that ran in the interpreter beside those on a real device."""

_SEEDS = {"audit": 2, "candidate": 1, "confirm": 3}
"""Draws of each declared or shrunk workload."""
_SPECIAL_FILLS = (Fill.LARGE, Fill.ZEROS, Fill.CONSTANT, Fill.OFFSET)
_LARGEST_SWITCH = 16
"""Whole-number literals up to here may be switches or counts; larger ones are sizes."""


@dataclass(frozen=True, slots=True)
class _Recipe:
    """A case before it is given a seed."""

    workload: Workload
    kind: CaseKind
    fill: Fill
    detail: str

    @property
    def key(self) -> str:
        return f"{self.workload.name}/{self.kind}/{self.fill}/{self.detail}"

    def case(self, seed: int) -> Case:
        source = self.workload
        return Case(
            id=f"{self.key}#{seed}",
            workload=source.name,
            kind=self.kind,
            fill=self.fill,
            seed=seed,
            inputs=source.inputs,
            init_args=source.init_args,
            dtype=source.dtype,
            memory_format=source.memory_format,
            rtol=source.rtol,
            atol=source.atol,
        )


def case_key(case: str) -> str:
    """Return the part of a case id that does not depend on the seed."""
    return case.rpartition("#")[0]


def is_interpreted_key(case: str) -> bool:
    """Say whether a case ran in the interpreter beside a plan for a real device."""
    return case.startswith(INTERPRETED_PREFIX)


def is_base(kind: str) -> bool:
    """Say whether a case stands for a workload itself, so that being wrong on it is an error."""
    return kind in (CaseKind.DECLARED, CaseKind.SHRUNK)


def plan_cases(
    problem: Problem,
    *,
    purpose: Purpose,
    interpreted: bool,
    seed: int,
    trusted: Collection[str] | None = None,
) -> tuple[Case, ...]:
    """Return the cases a source must be examined on, most telling first.

    Args:
        problem: Supplies the workloads.
        purpose: ``audit`` asks everything; ``candidate`` only what the baseline gets right;
            ``confirm`` the same with more draws.
        interpreted: Shapes must suit Triton's interpreter.
        seed: Of this plan; every seed and purpose gives other values.
        trusted: Keys (`case_key`) to keep; None keeps all.
    """
    draws = tuple(_draw(seed, purpose, index) for index in range(_SEEDS[purpose]))
    cases: list[Case] = []
    for recipe in _recipes(problem, interpreted=interpreted):
        is_wanted = trusted is None or recipe.key in trusted
        if not is_wanted or (purpose != "audit" and recipe.kind is CaseKind.ARGUMENT):
            continue
        seeds = draws if is_base(recipe.kind) else draws[:1]
        cases.extend(recipe.case(each) for each in seeds)
    return tuple(cases)


def case_by_key(problem: Problem, *, interpreted: bool) -> dict[str, Case]:
    """Return every case the problem can give, by key, with a seed of no meaning."""
    return {each.key: each.case(0) for each in _recipes(problem, interpreted=interpreted)}


def shapes_of(problem: Problem, cases: Collection[Case]) -> tuple[Workload, ...]:
    """Return one workload for each different set of shapes and arguments of the cases."""
    workloads = {each.name: each for each in problem.workloads}
    found: dict[tuple[object, ...], Workload] = {}
    for case in cases:
        shapes = tuple((each.shape, each.dtype, each.transforms) for each in case.inputs)
        key = (case.workload, shapes, case.init_args, case.dtype, case.memory_format)
        found.setdefault(
            key,
            replace(
                workloads[case.workload],
                inputs=case.inputs,
                init_args=case.init_args,
                dtype=case.dtype,
                memory_format=case.memory_format,
            ),
        )
    return tuple(found.values())


def base_keys(problem: Problem, *, interpreted: bool) -> dict[str, str]:
    """Return, by workload name, the key of the case that stands for it."""
    standing = _standing(problem, interpreted=interpreted)
    return {name: recipe.key for name, recipe in standing.items()}


def _draw(seed: int, purpose: str, index: int) -> int:
    """Return a seed that no other plan uses, in the 31 bits that every generator takes."""
    digest = blake2b(f"{seed}/{purpose}/{index}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1


def _recipes(problem: Problem, *, interpreted: bool) -> Iterator[_Recipe]:
    yield from _base(problem, interpreted=interpreted)
    for group in _groups(problem):
        small = _small_one(group)
        yield from _ragged_alone(small)
        yield from _ragged_together(_middle_one(group))
        yield from _special(small)
        yield from _arguments(small)


def _base(problem: Problem, *, interpreted: bool) -> Iterator[_Recipe]:
    """Yield one recipe for each workload that no other stands for."""
    standing = _standing(problem, interpreted=interpreted)
    yield from {each.key: each for each in standing.values()}.values()


def _standing(problem: Problem, *, interpreted: bool) -> dict[str, _Recipe]:
    """Return the recipe that stands for each workload; shrinking makes some of them equal."""
    found: dict[str, _Recipe] = {}
    # Timed ones first: where two are equal, the timed name stays.
    for workload in sorted(problem.workloads, key=lambda each: not each.is_timed):
        kind, used = CaseKind.DECLARED, workload
        if interpreted and not workload.from_file:
            used = shrink.shrunk(workload, shrink.INTERPRETED)
            kind = CaseKind.DECLARED if used.inputs == workload.inputs else CaseKind.SHRUNK
        twins = (each for each in found.values() if _asks_the_same(used, each.workload))
        twin = next(twins, None) if kind is CaseKind.SHRUNK else None
        found[workload.name] = twin or _Recipe(used, kind, Fill.RANDOM, _sizes_text(used))
    return found


def _asks_the_same(one: Workload, other: Workload) -> bool:
    """Say whether two workloads differ in nothing that a case carries."""
    named = replace(one, name=other.name, variant=other.variant)
    return _Recipe(named, CaseKind.SHRUNK, Fill.RANDOM, "").case(0) == _Recipe(
        other, CaseKind.SHRUNK, Fill.RANDOM, ""
    ).case(0)


def _groups(problem: Problem) -> tuple[list[Workload], ...]:
    """Return workloads that ask the same of a kernel but for sizes and tolerances together."""
    groups: dict[object, list[Workload]] = {}
    for workload in problem.workloads:
        signature = (
            tuple((spec.name, spec.dtype, len(spec.shape)) for spec in workload.inputs),
            workload.dtype,
            workload.memory_format,
            len(workload.init_args or ()),
        )
        if not workload.from_file:
            groups.setdefault(signature, []).append(workload)
    return tuple(groups.values())


def _small_one(group: list[Workload]) -> Workload:
    """Return the largest that is small enough; the smallest, shrunk, when none is."""
    small = [each for each in group if shrink.fits(each, shrink.SMALL)]
    if small:
        return max(small, key=element_count)
    return shrink.shrunk(min(group, key=element_count), shrink.SMALL)


def _middle_one(group: list[Workload]) -> Workload:
    """Return a timed one with several blocks in every direction, if the interpreter bears it."""
    timed = [each for each in group if each.is_timed]
    return shrink.shrunk(timed[0], shrink.INTERPRETED) if timed else _small_one(group)


def _ragged_alone(small: Workload) -> Iterator[_Recipe]:
    sizes = sizes_of(small)
    relations = relations_of(small)
    in_inputs = input_dims(small)
    outer = [name for name in sizes if name not in in_inputs and sizes[name] >= _LARGEST_SWITCH]
    for name in (*in_inputs, *outer):
        one_off = sizes[name] - 1 if sizes[name] > 1 else 2
        plain = {**sizes, name: one_off}
        yield from _kept_and_plain(
            small, plain, repaired(plain, relations, {name}), f"{name}={one_off}"
        )


def _ragged_together(middle: Workload) -> Iterator[_Recipe]:
    sizes, names = sizes_of(middle), input_dims(middle)
    if len(names) > 1:
        primes = _all_prime(sizes, names)
        kept = repaired(primes, relations_of(middle), set())
        yield from _kept_and_plain(middle, primes, kept, "all")


def _kept_and_plain(
    workload: Workload, plain: Sizes, kept: Sizes | None, detail: str
) -> Iterator[_Recipe]:
    """Yield the plain change, and the one that keeps products between sizes where it differs.

    Some products hold by chance; where one is meant, the reference refuses the plain change.
    """
    yield _Recipe(resized(workload, plain), CaseKind.RAGGED, Fill.RANDOM, detail)
    if kept is not None and kept != plain:
        more = f"{detail}, products kept"
        yield _Recipe(resized(workload, kept), CaseKind.RAGGED, Fill.RANDOM, more)


def _all_prime(sizes: Sizes, names: tuple[str, ...]) -> Sizes:
    """Give each dimension its own odd prime near its size, so that swapped strides show."""
    new, taken = dict(sizes), set[int]()
    for name in names:
        below = (each for each in range(sizes[name] - 1, 2, -1) if _is_odd_prime(each))
        above = (each for each in range(3, 2 * sizes[name] + 200) if _is_odd_prime(each))
        prime = next(each for each in (*below, *above) if each not in taken)
        taken.add(prime)
        new[name] = prime
    return new


def _is_odd_prime(number: int) -> bool:
    return number % 2 == 1 and all(number % each for each in range(3, int(number**0.5) + 1, 2))


def _special(small: Workload) -> Iterator[_Recipe]:
    formats = (find_dtype(spec.dtype) for spec in small.inputs)
    if any(each is not None and each.kind == "float" for each in formats):
        for fill in _SPECIAL_FILLS:
            yield _Recipe(small, CaseKind.SPECIAL, fill, _sizes_text(small))


def _arguments(small: Workload) -> Iterator[_Recipe]:
    names = small.init_dims or ("",) * len(small.init_args or ())
    in_inputs = set(input_dims(small))
    sizes = {size for spec in small.inputs for size in spec.shape}
    for index, value in enumerate(small.init_args or ()):
        name = names[index]
        is_size = name in in_inputs or (not name and value in sizes)
        for other in _other_values(value, is_size=is_size):
            used = with_argument(small, index, other)
            detail = f"{index}:{name}={other:g}"
            yield _Recipe(used, CaseKind.ARGUMENT, Fill.RANDOM, detail)


def _other_values(value: Argument, *, is_size: bool) -> tuple[bool | int | float, ...]:
    """Return other values for a constructor argument; none where any other has no sense."""
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, float):
        return (round(value * 1.7 + 0.1, 12),)
    if isinstance(value, int) and not is_size and abs(value) <= _LARGEST_SWITCH:
        # One may be a switch or a count (of groups, of steps): try it both ways.
        return (0, 2) if value == 1 else (value + 1,)
    return ()


def _sizes_text(workload: Workload) -> str:
    sizes = sizes_of(workload)
    return ",".join(f"{name}={size}" for name, size in sizes.items()) or "as given"
