"""Turns what a child says about its device into a card, and has its ceilings measured."""

from collections.abc import Mapping
from typing import Any

from bench_workers.host.conditions import driver_version
from bench_workers.host.sessions import Session
from xeforge.domain.device import Backend
from xeforge.domain.device import Card
from xeforge.domain.device import Ceilings

_SECONDS = 120.0


def card_of(facts: Mapping[str, Any], index: int = 0) -> Card:
    """Build a card from what a child says about its device."""
    backend: Backend = facts["backend"]
    return Card(
        backend=backend,
        index=index,
        product=str(facts["product"]),
        uuid=str(facts["uuid"]),
        driver=str(facts["driver"]) or driver_version(backend),
        torch=str(facts["torch"]),
        triton=str(facts["triton"]),
        memory_bytes=int(facts["memory_bytes"]),
    )


def ceilings_of(session: Session) -> Ceilings:
    """Measure copy bandwidth and matrix rates with a child that holds no user code."""
    answer = session.ask("ceilings", {}, seconds=_SECONDS)
    rates = {str(name): float(rate) for name, rate in answer["matrix_flops_per_s"].items()}
    return Ceilings(float(answer["copy_bytes_per_s"]), rates)
