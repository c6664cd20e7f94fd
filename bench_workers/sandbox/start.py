"""Puts a child together: folder, socket, walls, limits, command."""

import json
import socket
import tempfile
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from bench_workers.sandbox.children import Child
from bench_workers.sandbox.children import remove_folder
from bench_workers.sandbox.identity import Place
from bench_workers.sandbox.identity import make_place
from bench_workers.sandbox.limits import limit_words
from bench_workers.sandbox.policy import Policy
from bench_workers.sandbox.spawn import spawn
from bench_workers.sandbox.sweep import sweep_once
from xeforge.errors import OutOfHostResources

START_SECONDS = 180.0
TOKEN_VARIABLE = "XEFORGE_CHILD"  # noqa: S105  (a name, no secret)
OUTSIDE = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}


def begin(
    role: str,
    policy: Policy,
    layer: ModuleType,
    *,
    uid: int | None,
    inherit: Sequence[int] = (),
    options: Mapping[str, Any] | None = None,
) -> Child:
    """Start a child inside a layer without waiting for it to be ready.

    Args:
        role: What it shall do.
        policy: The rules.
        layer: Module of the isolation layer.
        uid: User it becomes; None: stay, mapped where the layer can.
        inherit: Descriptors it gets under their own numbers.
        options: For the child's entry point and the role.

    Raises:
        OutOfHostResources: No folder or no process is to be had.
        ToolchainMissing: A program of the layer is not installed.
    """
    place = place_for(policy, uid=uid)
    ours, theirs = socket.socketpair()
    try:
        words = [
            *_walls(policy, layer, place),
            *(str(policy.python), "-I", "-B", f"{layer.harness(place)}/main.py"),
            *(role, str(theirs.fileno()), options_text(policy, options or {})),
        ]
        process = spawn(words, environment=OUTSIDE, keep=(theirs.fileno(), *inherit))
    except BaseException:
        ours.close()
        remove_folder(place.directory.parent)
        raise
    finally:
        theirs.close()
    return Child(process, ours, policy, place, role=role, shared=inherit)


def start(
    role: str,
    policy: Policy,
    layer: ModuleType,
    *,
    uid: int | None,
    inherit: Sequence[int] = (),
    options: Mapping[str, Any] | None = None,
) -> Child:
    """Do as `begin`, then wait until the child is ready.

    Raises:
        PlatformError: It did not get ready.
    """
    child = begin(role, policy, layer, uid=uid, inherit=inherit, options=options)
    try:
        child.wait_until_ready(seconds=START_SECONDS)
    except BaseException:
        child.close()
        raise
    return child


def place_for(policy: Policy, *, uid: int | None, parent: Path | None = None) -> Place:
    """Make the private folders of a child.

    Args:
        policy: Says where, unless ``parent`` does.
        uid: Their owner; None: this process's user.
        parent: Folder to make them in.

    Raises:
        OutOfHostResources: They cannot be made.
    """
    if parent is None:
        parent = policy.work_directory or Path(tempfile.gettempdir())
        sweep_once(parent)
    try:
        return make_place(parent, uid=uid)
    except OSError as error:
        raise OutOfHostResources(f"no private folder in {parent}: {error}") from error


def _walls(policy: Policy, layer: ModuleType, place: Place) -> list[str]:
    """Return the words that isolate and limit the command after them."""
    environment = {**policy.environment, **own_environment(layer, place)}
    per_user = layer.COUNTS_USERS or place.uid is not None
    return [
        *layer.command(policy, place, environment),
        *limit_words(policy, per_user=per_user),
    ]


def own_environment(layer: ModuleType, place: Place) -> dict[str, str]:
    """Return the variables that are a child's own."""
    home = layer.home(place)
    return {
        "HOME": home,
        "TMPDIR": home,
        "TRITON_CACHE_DIR": f"{home}/cache",
        "TORCHINDUCTOR_CACHE_DIR": f"{home}/inductor",
        TOKEN_VARIABLE: place.token,
    }


def options_text(policy: Policy, options: Mapping[str, Any]) -> str:
    """Return the options as the child's entry point reads them."""
    return json.dumps({"paths": [str(path) for path in policy.search_paths], **options})
