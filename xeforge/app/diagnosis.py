"""What `xeforge doctor` finds out about isolation: which layer is in force, and what it holds.

What a layer promises is looked at from inside: a child with no user code says what it sees.
"""

import os
from collections.abc import Collection
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Any

from xeforge.app.isolation import OPTION
from xeforge.app.isolation import REMEDY
from xeforge.app.isolation import VARIABLE
from xeforge.app.isolation import is_allowed
from xeforge.domain.isolation import caution
from xeforge.domain.isolation import is_walled

if TYPE_CHECKING:
    from bench_workers.sandbox.policy import Policy

_SECONDS = 30.0
_GIB = 1 << 30
_MIB = 1 << 20
_LOOP = {"lo"}
_PRIVATE = {"HOME", "PWD", "TMPDIR", "USER", "SHLVL", "_"}
"""Variables that every process has under the same name, with values of its own."""
_OWN_PROCESSES = 8
_NO_PRLIMIT = "apt-get install util-linux"
_LITTLE_MEMORY = "none needed for small kernels: large ones may exhaust this machine"
_ASK = """
import os, resource, socket
def limit(name):
    soft, _ = resource.getrlimit(getattr(resource, name))
    return None if soft == resource.RLIM_INFINITY else soft
answer["interfaces"] = [name for _, name in socket.if_nameindex()]
answer["processes"] = sum(name.isdigit() for name in os.listdir("/proc"))
answer["uid"] = os.getuid()
answer["seen"] = [path for path in payload["hidden"] if os.path.exists(path)]
answer["variables"] = sorted(os.environ)
answer["limits"] = {
    name: limit(f"RLIMIT_{name}") for name in ("NPROC", "NOFILE", "FSIZE", "CPU", "CORE")
}
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the diagnosis.

    Attributes:
        part: What was looked at.
        works: Whether it works here.
        detail: Version, or what happened.
        remedy: The command that mends it, or why none is needed; empty when it works.
        is_required: Whether the main job needs it.
    """

    part: str
    works: bool
    detail: str
    remedy: str = ""
    is_required: bool = False


def isolation_rows(hidden: tuple[Path, ...]) -> list[Row]:
    """Try every layer, mark the one in force and say what it holds.

    Args:
        hidden: What no child may see, such as the folder of jobs.
    """
    from bench_workers.sandbox.launch import launch
    from bench_workers.sandbox.layers import available_layers
    from bench_workers.sandbox.layers import best_layer
    from bench_workers.sandbox.policy import default_policy

    rows = [
        Row(f"isolation: {each.name}", each.is_active, each.detail, each.remedy)
        for each in available_layers()
    ]
    layer = best_layer()
    rows = [
        replace(each, detail=f"IN FORCE: {each.detail}")
        if each.part == f"isolation: {layer}"
        else each
        for each in rows
    ]
    policy = default_policy("cpu", layer=layer)
    with launch("echo", policy) as child:
        question = {"source": _ASK, "hidden": [str(path) for path in hidden]}
        facts = child.request("run", question, deadline_seconds=_SECONDS)
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = limit_rows(policy, facts, outside=os.environ, memory_bytes=memory_bytes)
    return [*rows, chosen_row(layer, is_permitted=is_allowed(False)), *limits]


def chosen_row(layer: str, *, is_permitted: bool) -> Row:
    """Say which layer user code will run in, or that none will be run."""
    if is_walled(layer):
        return Row("isolation in force", True, layer, is_required=True)
    if is_permitted:
        words = f"{layer}, allowed by {VARIABLE}=1; {caution(layer)}"
        return Row("isolation in force", True, words, REMEDY, is_required=True)
    remedy = f"{REMEDY}, or {OPTION} for code you trust"
    words = f"{layer} only: user code is refused"
    return Row("isolation in force", False, words, remedy, is_required=True)


def limit_rows(
    policy: "Policy", facts: Mapping[str, Any], *, outside: Collection[str], memory_bytes: int
) -> list[Row]:
    """Say what holds a child in: what it saw from inside, and what the watch ends it for.

    Args:
        policy: The rules it was started under.
        facts: What it saw.
        outside: Names of this process's environment variables.
        memory_bytes: Of this machine.
    """
    limits, room = facts["limits"], policy.memory_bytes
    leaked = sorted(set(facts["variables"]) & set(outside) - set(policy.environment) - _PRIVATE)
    own = f"{len(facts['variables'])} variables, none of ours"
    return [
        *_wall_rows(policy, facts),
        Row(
            "limit: memory",
            room <= memory_bytes,
            f"{room / _GIB:.0f} GiB for all its processes together, by a watchdog; this machine "
            f"has {memory_bytes / _GIB:.0f} GiB",
            "" if room <= memory_bytes else _LITTLE_MEMORY,
        ),
        Row(
            "limit: time",
            limits["CPU"] is not None,
            f"{limits['CPU']} s of processor time each, and a deadline for every request",
            "" if limits["CPU"] is not None else _NO_PRLIMIT,
        ),
        Row(
            "limit: user",
            facts["uid"] != 0,
            f"runs as user {facts['uid']}",
            "" if facts["uid"] else REMEDY,
        ),
        Row(
            "limit: environment",
            not leaked,
            f"ours leak: {', '.join(leaked)}" if leaked else own,
            REMEDY if leaked else "",
        ),
    ]


def _wall_rows(policy: "Policy", facts: Mapping[str, Any]) -> list[Row]:
    """Say what a child can reach: network, files, other processes."""
    limits, seen = facts["limits"], facts["seen"]
    open_to = sorted(set(facts["interfaces"]) - _LOOP)
    is_apart = facts["processes"] <= _OWN_PROCESSES
    files = (
        f"{limits['NOFILE']} open at once, none longer than {(limits['FSIZE'] or 0) // _MIB} MiB; "
        f"{policy.disk_bytes // _GIB} GiB of disk, watched"
    )
    return [
        Row(
            "limit: network",
            not open_to,
            f"open: {', '.join(open_to)}" if open_to else "none: no interface but its own loop",
            REMEDY if open_to else "",
        ),
        Row(
            "limit: files",
            not seen,
            f"{', '.join(seen)} can be seen; {files}" if seen else f"jobs cannot be seen; {files}",
            REMEDY if seen else "",
        ),
        Row(
            "limit: processes",
            is_apart,
            f"at most {policy.processes} (kernel's limit {limits['NPROC'] or 'none'}, and watched "
            f"over the whole family); it sees {facts['processes']} processes",
            "" if is_apart else REMEDY,
        ),
    ]
