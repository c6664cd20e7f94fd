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
from xeforge.errors import OutOfHostResources

START_SECONDS = 180.0
TOKEN_VARIABLE = "XEFORGE_CHILD"  # noqa: S105  (a name, no secret)
_OUTSIDE = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}


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
    parent = policy.work_directory or Path(tempfile.gettempdir())
    try:
        place = make_place(parent, uid=uid)
    except OSError as error:
        raise OutOfHostResources(f"no private folder in {parent}: {error}") from error
    ours, theirs = socket.socketpair()
    try:
        words = [
            *_walls(policy, layer, place),
            *(str(policy.python), "-I", "-B", f"{layer.harness(place)}/main.py"),
            *(role, str(theirs.fileno()), _options(policy, options or {})),
        ]
        process = spawn(words, environment=_OUTSIDE, keep=(theirs.fileno(), *inherit))
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


def _walls(policy: Policy, layer: ModuleType, place: Place) -> list[str]:
    """Return the words that isolate and limit the command after them."""
    home = layer.home(place)
    environment = {
        **policy.environment,
        "HOME": home,
        "TMPDIR": home,
        "TRITON_CACHE_DIR": f"{home}/cache",
        "TORCHINDUCTOR_CACHE_DIR": f"{home}/inductor",
        TOKEN_VARIABLE: place.token,
    }
    per_user = layer.COUNTS_USERS or place.uid is not None
    return [
        *layer.command(policy, place, environment),
        *limit_words(policy, per_user=per_user),
    ]


def _options(policy: Policy, options: Mapping[str, Any]) -> str:
    """Return the options as the child's entry point reads them."""
    return json.dumps({"paths": [str(path) for path in policy.search_paths], **options})
