"""One right to perform one step once."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attempt:
    """A lease on a step.

    Attributes:
        job: Job id.
        step: Step id.
        token: Fencing token; grows with every lease of the same step, only the newest may record.
        worker: Who holds it.
        expires_at_seconds: Unix time after which another worker may take it.
    """

    job: str
    step: str
    token: int
    worker: str
    expires_at_seconds: float
