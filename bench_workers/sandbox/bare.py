"""No walls: a plain process with limits, a clean environment and, under root, another user.

The child can read whatever its user can, and reach the network. Never chosen silently: what
uses it says so.
"""

import os
from collections.abc import Mapping

from bench_workers.sandbox.bwrap import drop_user
from bench_workers.sandbox.identity import Place
from bench_workers.sandbox.policy import CHILD_DIRECTORY
from bench_workers.sandbox.policy import Policy

NAME = "bare"
REMEDY = "apt-get install util-linux"
SUMMARY = "limits and a clean environment only; files and network are open to the child"
COUNTS_USERS = False
NESTS = False


def harness(_place: Place) -> str:
    """Return the folder of the child's code as the child sees it."""
    return str(CHILD_DIRECTORY)


def home(place: Place) -> str:
    """Return the private folder as the child sees it."""
    return str(place.directory)


def command(_policy: Policy, place: Place, environment: Mapping[str, str]) -> list[str]:
    """Return the words to put in front of the child's own command."""
    words = [*drop_user(place), "--pdeathsig", "KILL"]
    if place.uid is None and os.geteuid() == 0:  # root in name only
        words += ["--inh-caps=-all", "--bounding-set=-all"]
    words += ["env", "-i"]
    return words + [f"{name}={value}" for name, value in environment.items()]


def zygote(
    _policy: Policy, _place: Place, environment: Mapping[str, str], *, changes_user: bool
) -> list[str]:
    """Return the words to put in front of a zygote's own command.

    Args:
        environment: All its variables.
        changes_user: Whether each child becomes another user, for which it stays root.
    """
    words = ["setpriv", "--pdeathsig", "KILL"]
    if not changes_user:
        words += ["--no-new-privs"]
    words += ["env", "-i"]
    return words + [f"{name}={value}" for name, value in environment.items()]
