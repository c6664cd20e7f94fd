"""The door to the sandbox: a child for a role, inside the walls that a policy asks for."""

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from bench_workers.sandbox.children import Child
from bench_workers.sandbox.layers import standing
from bench_workers.sandbox.policy import Policy
from bench_workers.sandbox.spares import Spares
from bench_workers.sandbox.start import start

__all__ = ["Child", "Spares", "launch"]


def launch(
    role: str,
    policy: Policy,
    *,
    inherit: Sequence[int] = (),
    options: Mapping[str, Any] | None = None,
) -> Child:
    """Start a sandboxed child and return it when it is ready for requests.

    Args:
        role: ``prepare``, ``oracle``, ``run``, ``build``, ``count``, ``lower``, ``echo`` or
            ``spare``.
        policy: The rules; its layer must work here.
        inherit: Descriptors the child gets under their own numbers, e.g. of shared memory.
        options: ``paths``, ``environment`` and ``preload`` for the entry point, see
            `bench_workers.child.main`; the rest is for the role.

    Raises:
        ToolchainMissing: The layer does not work here; the remedy says what is missing.
        PlatformError: The child did not get ready.
    """
    form = standing(policy.layer)
    return start(role, policy, form.module, uid=form.uid(), inherit=inherit, options=options)
