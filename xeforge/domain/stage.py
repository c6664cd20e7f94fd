"""A kind of improvement."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stage:
    """One kind of improvement, as data.

    Attributes:
        name: File name of the stage.
        goal: What it is after, one sentence.
        cures: Issue types it can remove; every type belongs to exactly one stage.
        after: Stages that must come before it when both run.
        proposers: Names of proposers asked in this stage, in order.
        attempts: Most judged candidates per job in this stage.
        batch: Candidates asked for at a time.
    """

    name: str
    goal: str
    cures: frozenset[str]
    after: tuple[str, ...]
    proposers: tuple[str, ...]
    attempts: int
    batch: int = 4
