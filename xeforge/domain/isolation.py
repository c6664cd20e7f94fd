"""Which isolation keeps untrusted code apart, and what must be said where nothing does."""

from typing import Final

WALLED: Final = frozenset({"bubblewrap", "unshare"})
"""Layers that hide files, processes and network of the machine. A name not here counts as none."""


def is_walled(sandbox: str) -> bool:
    """Say whether a layer keeps files, processes and network of this machine from the code.

    Args:
        sandbox: Its name, perhaps followed by how children are started, as in evidence.
    """
    return sandbox.partition(" ")[0] in WALLED


def caution(sandbox: str) -> str:
    """Return what every claim made without walls must carry; empty where walls stood."""
    if is_walled(sandbox):
        return ""
    return (
        f"UNSANDBOXED (layer {sandbox.partition(' ')[0]!r}): the code could reach this machine's "
        "files and network, so the evidence is worth no more than the trust in the code"
    )
