"""Starts children in one form of one layer and closes them after each test."""

from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from bench_workers.sandbox.children import Child
from bench_workers.sandbox.identity import fresh_uid
from bench_workers.sandbox.policy import default_policy
from bench_workers.sandbox.start import start

POLICY_FIELDS = {
    "memory_bytes",
    "cpu_seconds",
    "processes",
    "files",
    "file_size_bytes",
    "disk_bytes",
    "shared_memory_bytes",
    "output_bytes",
}


@pytest.fixture
def start_in(tmp_path: Path) -> Iterator[Callable[..., Child]]:
    """Start a child in a layer; keywords change its policy or go to `start`."""
    started: list[Child] = []

    def begin(layer: ModuleType, *, own_user: bool, role: str = "echo", **changes) -> Child:
        policy = default_policy("cpu", layer=layer.NAME, threads=1)
        limits = {name: changes.pop(name) for name in POLICY_FIELDS & set(changes)}
        limits["readable"] = (*policy.readable, *changes.pop("readable", ()))
        uid = fresh_uid() if own_user else None
        child = start(role, replace(policy, **limits), layer, uid=uid, **changes)
        started.append(child)
        return child

    yield begin
    for child in started:
        child.close()
