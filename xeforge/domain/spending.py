"""Where the seconds of a device step went."""

from dataclasses import dataclass

_TIMED = frozenset({"time_sample", "time_warm", "time_batch"})
_START = "start"


@dataclass(frozen=True, slots=True)
class OperationTime:
    """All requests of one kind.

    Attributes:
        role: Whose child was asked: ``run`` or ``oracle``.
        operation: What for; ``start`` is waiting for a child with its libraries imported.
        count: Requests.
        seconds: Until their answers were there.
        compile_seconds: Of these, in Triton's compiler.
        user_seconds: Of these, in the kernel's or the reference's own code.
    """

    role: str
    operation: str
    count: int
    seconds: float
    compile_seconds: float = 0.0
    user_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Spending:
    """Seconds of one device step.

    Attributes:
        total_seconds: From its begin to its end, waiting for the card apart.
        operations: Its requests by kind, the dearest first.
    """

    total_seconds: float
    operations: tuple[OperationTime, ...] = ()

    @property
    def import_seconds(self) -> float:
        """Return seconds waited for children that import their libraries."""
        return sum(each.seconds for each in self.operations if each.operation == _START)

    @property
    def compile_seconds(self) -> float:
        """Return seconds in Triton's compiler."""
        return sum(each.compile_seconds for each in self.operations)

    @property
    def timed_seconds(self) -> float:
        """Return seconds of timed runs, with the drawing of their inputs."""
        return sum(each.seconds for each in self.operations if each.operation in _TIMED)

    @property
    def oracle_seconds(self) -> float:
        """Return seconds of the oracle: drawing inputs, evaluating, comparing."""
        return sum(
            each.seconds
            for each in self.operations
            if each.role == "oracle" and each.operation != _START
        )

    @property
    def harness_seconds(self) -> float:
        """Return what is neither import, nor compilation, nor a timed run."""
        return max(
            0.0,
            self.total_seconds - self.import_seconds - self.compile_seconds - self.timed_seconds,
        )
