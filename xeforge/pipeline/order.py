"""Stage order that respects `after`, whatever order was asked for."""

from collections.abc import Collection
from collections.abc import Iterable
from graphlib import TopologicalSorter

from xeforge.pipeline.stages import STAGE_BY_NAME
from xeforge.pipeline.stages import STAGES


def earlier(stage: str) -> frozenset[str]:
    """Return every stage that must come before this one, transitively."""
    direct = STAGE_BY_NAME[stage].after
    return frozenset(direct).union(*(earlier(each) for each in direct))


def ordered(stages: Iterable[str]) -> tuple[str, ...]:
    """Return the stages, each once, in an order that breaks no hard edge.

    Edges hold transitively, also through stages that were not asked for. Among stages that may
    come in either order, the one asked for first comes first.

    Raises:
        KeyError: A name that is no stage.
    """
    wanted = list(dict.fromkeys(stages))
    sorter = TopologicalSorter(
        {each: [other for other in wanted if other in earlier(each)] for each in wanted}
    )
    sorter.prepare()
    result: list[str] = []
    ready: list[str] = []
    while sorter.is_active():
        ready.extend(sorter.get_ready())
        ready.sort(key=wanted.index)
        chosen = ready.pop(0)
        result.append(chosen)
        sorter.done(chosen)
    return tuple(result)


def plan(requested: Collection[str], issues: Collection[str]) -> tuple[list[str], list[str]]:
    """Choose stages without a model: those asked for, or all, that some proposer can work on.

    Args:
        requested: Stage names asked for; empty: all.
        issues: Issue types found, used for the reasons only: a recipe looks for its own
            opportunity and costs nothing when there is none.

    Returns:
        Ordered stage names, and one reason per stage of the closed list.
    """
    chosen: list[str] = []
    reasons: list[str] = []
    for stage in STAGES:
        if requested and stage.name not in requested:
            reasons.append(f"{stage.name}: not asked for")
        elif not stage.proposers:
            reasons.append(f"{stage.name}: left out, no proposer without a language model")
        else:
            chosen.append(stage.name)
            cured = sorted(stage.cures & set(issues))
            reasons.append(
                f"{stage.name}: {', '.join(cured) if cured else 'no issue found, tried'}"
            )
    return list(ordered(chosen)), reasons
