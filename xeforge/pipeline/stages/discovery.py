"""Discovery: follow ideas outside the closed list; each must say what, why it is valid and what it gains."""

from xeforge.domain.stage import Stage

STAGE = Stage(
    name="discovery",
    goal="Follow ideas outside the closed list; each must say what, why it is valid and what it gains.",
    cures=frozenset(
        {
            "open_ended",
        }
    ),
    after=(),
    proposers=(),
    attempts=8,
)
