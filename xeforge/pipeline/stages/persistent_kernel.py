"""Persistent kernel: keep programs resident and let each work through many tiles."""

from xeforge.domain.stage import Stage

STAGE = Stage(
    name="persistent_kernel",
    goal="Keep programs resident and let each work through many tiles.",
    cures=frozenset(
        {
            "missing_persistent",
            "persistent_num_progs_hardcoded",
        }
    ),
    after=(),
    proposers=(),
    attempts=8,
)
