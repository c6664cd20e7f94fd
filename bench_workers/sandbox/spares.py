"""Children started ahead of need, so that the import of the large libraries is not waited for."""

import threading
from collections import deque
from collections.abc import Mapping
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from bench_workers.sandbox.children import Child
from bench_workers.sandbox.layers import standing
from bench_workers.sandbox.policy import Policy
from bench_workers.sandbox.start import START_SECONDS
from bench_workers.sandbox.start import begin
from xeforge.errors import PlatformError

LIBRARIES = ("torch", "triton")
PRELOAD = (*LIBRARIES, "warm_triton")
_ROLE_SECONDS = 60.0
_CLOSED = "the spare children are closed"


class Spares:
    """Keeps warm children with the libraries imported, no device touched and no role taken.

    Args:
        policy: The rules of all of them.
        count: How many to keep ahead.
        inherit: Descriptors each gets under its own number; they must stay open until `close`.
        options: For the entry point; ``preload`` is filled in where it is missing.
        parallel: How many may warm up at once; it takes a processor each.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        count: int = 2,
        inherit: Sequence[int] = (),
        options: Mapping[str, Any] | None = None,
        parallel: int = 2,
    ) -> None:
        self._policy = policy
        self._inherit = tuple(inherit)
        self._options = {"preload": list(PRELOAD), **(options or {})}
        self._lock = threading.Lock()
        self._workers = ThreadPoolExecutor(parallel, thread_name_prefix="sandbox-spare")
        self._waiting: deque[Future[Child]] = deque()
        self._warming: set[Child] = set()
        self._is_closed = False
        for _ in range(count):
            self._warm_one()

    def take(self, role: str, *, options: Mapping[str, Any] | None = None) -> Child:
        """Return a child in a role, the warmest first, and start another in its place.

        Args:
            role: As for `launch`.
            options: For the role's own set-up.

        Raises:
            PlatformError: Warming up failed, or the role cannot be taken, or this is closed.
        """
        while True:
            child = self._next().result()
            if child.is_alive:
                break
            child.close()
        try:
            child.take_role(role, options or self._options, seconds=_ROLE_SECONDS)
        except BaseException:
            child.close()
            raise
        return child

    def close(self) -> None:
        """End all children that nobody took; calling again does nothing."""
        with self._lock:
            self._is_closed = True
            waiting = tuple(self._waiting)
            self._waiting.clear()
            for child in self._warming:
                child.kill()
        for future in waiting:
            future.cancel()
        self._workers.shutdown(wait=True)
        for future in waiting:
            if not future.cancelled() and future.exception() is None:
                with suppress(PlatformError):
                    future.result().close()

    def _next(self) -> Future[Child]:
        """Take the first that is ready, else the first that will be, and start another."""
        with self._lock:
            if self._is_closed:
                raise PlatformError(_CLOSED)
            self._warm_one()
            ready = next((future for future in self._waiting if future.done()), None)
            chosen = ready or self._waiting[0]
            self._waiting.remove(chosen)
            return chosen

    def _warm_one(self) -> None:
        self._waiting.append(self._workers.submit(self._start))

    def _start(self) -> Child:
        form = standing(self._policy.layer)
        with self._lock:
            if self._is_closed:
                raise PlatformError(_CLOSED)
            child = begin(
                "spare",
                self._policy,
                form.module,
                uid=form.uid(),
                inherit=self._inherit,
                options=self._options,
            )
            self._warming.add(child)
        try:
            child.wait_until_ready(seconds=START_SECONDS)
        except BaseException:
            child.close()
            raise
        finally:
            with self._lock:
                self._warming.discard(child)
        return child
