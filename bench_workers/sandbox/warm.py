"""Warm children for roles: forked from a zygote, or started ahead where none can be."""

import logging
import threading
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from bench_workers.sandbox.children import Child
from bench_workers.sandbox.forked import CannotFork
from bench_workers.sandbox.launch import launch
from bench_workers.sandbox.layers import ZYGOTE
from bench_workers.sandbox.layers import standing
from bench_workers.sandbox.layers import zygote_problem
from bench_workers.sandbox.policy import Policy
from bench_workers.sandbox.spares import PRELOAD
from bench_workers.sandbox.spares import Spares
from bench_workers.sandbox.zygote import Zygote

SPARES = "spares"
_UNFIT: dict[str, str] = {}
"""Layers in which a zygote with everything imported could not fork, and why; evidence says so."""

_LOG = logging.getLogger(__name__)


def method(layer: str) -> str:
    """Say how warm children come to be in a layer: ``"zygote"`` or ``"spares"``.

    Raises:
        ToolchainMissing: The layer does not work here.
    """
    return SPARES if layer in _UNFIT or zygote_problem(layer) else ZYGOTE


class WarmChildren:
    """Children with the libraries imported, all of one policy and one environment.

    Args:
        policy: The rules of all of them.
        ahead: How many to keep ahead where there is no zygote.
        inherit: Descriptors each gets under its own number, unless `take` names others.
        options: For the entry point and the role; ``preload`` is filled in where it is missing.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        ahead: int = 1,
        inherit: Sequence[int] = (),
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._policy = policy
        self._count = ahead
        self._lock = threading.Lock()
        self._inherit = tuple(inherit)
        self._options = {"preload": list(PRELOAD), **(options or {})}
        self._source: Zygote | Spares
        if method(policy.layer) == ZYGOTE:
            form = standing(policy.layer)
            self._source = Zygote(
                policy, form.module, uid=form.uid, inherit=self._inherit, options=self._options
            )
        else:
            self._source = self._spares()

    def _spares(self) -> Spares:
        count = self._count
        return Spares(
            self._policy,
            count=count,
            parallel=max(1, count),
            inherit=self._inherit,
            options=self._options,
        )

    def take(
        self,
        role: str,
        *,
        options: Mapping[str, Any] | None = None,
        inherit: Sequence[int] | None = None,
    ) -> Child:
        """Return a child in a role.

        Args:
            role: As for `launch`.
            options: For the role's own set-up.
            inherit: Descriptors it gets under their own numbers; without a zygote a child with
                others than all have is started cold.

        Raises:
            PlatformError: None can be had, or the role cannot be taken, or this is closed.
        """
        given = self._inherit if inherit is None else tuple(inherit)
        source = self._source
        if isinstance(source, Zygote):
            try:
                return source.take(role, options=options, inherit=given)
            except CannotFork as error:
                source = self._without(source, error)
        if given == self._inherit:
            return source.take(role, options=options)
        return launch(role, self._policy, inherit=given, options=options or self._options)

    def _without(self, zygote: Zygote, error: CannotFork) -> Spares:
        """Go on without a zygote, and say so: it costs processor time, not isolation."""
        with self._lock:
            if self._source is zygote:
                _UNFIT[self._policy.layer] = error.message
                _LOG.warning("children are started one by one: %s", error.message)
                self._source = self._spares()
                zygote.close()
            source = self._source
        if isinstance(source, Zygote):
            raise error
        return source

    def close(self) -> None:
        """End what nobody took; calling again does nothing."""
        self._source.close()
