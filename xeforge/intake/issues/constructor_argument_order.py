"""Constructor arguments arrive in another slot than the reference, or the kernel, expects."""

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.source.constructor import constructor_node
from xeforge.source.constructor import stored_arguments
from xeforge.source.contents import KernelContents
from xeforge.source.contents import LaunchSite
from xeforge.source.contents import Parameter
from xeforge.source.facts import FileFacts

NAME: Final = "constructor_argument_order"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Compare the constructors of kernel and reference, and constructor values with launches."""
    constructor = constructor_node(facts.tree, facts.contents)
    if constructor is None or facts.contents.model is None:
        return ()
    found = []
    if facts.reference is not None and facts.reference.model is not None:
        found += list(_against_reference(facts.contents, facts.reference, constructor.lineno))
    kept = {attribute: name for name, attribute in stored_arguments(constructor).items()}
    for launch in facts.contents.launches:
        found += list(_swapped(launch, facts.contents, kept))
    return tuple(found)


def _against_reference(
    contents: KernelContents, reference: KernelContents, line: int
) -> Iterator[Issue]:
    """Arguments are passed by position, so that a name must stand in the same place in both."""
    if contents.model is None or reference.model is None:
        return
    ours = _positional(contents.model.init_parameters)
    theirs = _positional(reference.model.init_parameters)
    places = {each.name: index for index, each in enumerate(theirs)}
    for index, each in enumerate(ours):
        other = places.get(each.name, index)
        if other == index:
            continue
        is_always_passed = each.default is None or theirs[other].default is None
        yield Issue(
            type=NAME,
            severity=Severity.ERROR if is_always_passed else Severity.WARNING,
            message=f"{each.name!r} is argument {index + 1} of the constructor, but argument "
            f"{other + 1} of the reference's: arguments are passed by position",
            line=line,
            remedy="give __init__ the reference's order of parameters",
        )
        return


def _positional(parameters: tuple[Parameter, ...]) -> list[Parameter]:
    return [each for each in parameters if each.kind == "positional"]


def _swapped(launch: LaunchSite, contents: KernelContents, kept: dict[str, str]) -> Iterator[Issue]:
    """Yield pairs of constructor values that a launch passes in each other's place."""
    kernel = contents.jit_function(launch.kernel)
    if kernel is None or any(each.startswith("*") for each in launch.positional):
        return
    given = dict(zip((each.name for each in kernel.params), launch.positional, strict=False))
    given |= {name: text for name, text in launch.keywords.items() if name != "**"}
    values = {
        name: kept[text.removeprefix("self.")]
        for name, text in given.items()
        if text.startswith("self.") and text.removeprefix("self.") in kept
    }
    for (one, first), (two, second) in combinations(values.items(), 2):
        if (one, two) == (second, first) and one != two:
            yield Issue(
                type=NAME,
                severity=Severity.WARNING,
                message=f"{launch.kernel} gets the constructor's {first!r} as {one!r} and "
                f"{second!r} as {two!r}",
                line=launch.line,
                remedy="swap the two arguments of the launch",
            )
