"""Discovery: ideas outside the closed list."""

from xeforge.domain.stage import Stage

STAGE = Stage(
    name="discovery",
    goal="Follow ideas outside the closed list that say what, why and how much.",
    cures=frozenset(
        {
            "open_ended",
        }
    ),
    after=(),
    proposers=(),
    attempts=8,
)
