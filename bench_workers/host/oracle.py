"""The trusted side of the oracle: what each case expects, and how outputs compare with it."""

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench_workers.host.sessions import Deadlines
from bench_workers.host.sessions import Session
from bench_workers.host.sessions import Sessions
from xeforge.domain.case import Case
from xeforge.domain.case import Fill
from xeforge.domain.evidence import OutputEvidence
from xeforge.domain.problem import Problem
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.errors import CandidateError
from xeforge.errors import CandidateRaised
from xeforge.errors import OracleFailed

REFERENCE = "reference"
SUBMITTED = "submitted"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A case whose inputs and weights lie in shared memory.

    Attributes:
        payload: What a candidate's child needs to run it.
        names: Input names.
        output_count: Tensors the oracle returns.
        output_bytes: Their size.
        mutated: Inputs the oracle changes, by name.
        aliased: Outputs of the oracle that share memory with an input.
        differs: Whether the oracle gives different bits twice.
        notes: For the reader.
        shapes: Inputs as text.
    """

    payload: Mapping[str, Any]
    names: tuple[str, ...]
    output_count: int
    output_bytes: int
    mutated: frozenset[str]
    aliased: frozenset[int]
    differs: bool
    notes: tuple[str, ...]
    shapes: tuple[str, ...]


class Oracle:
    """Evaluates the reference, or the submitted kernel where there is none.

    Args:
        sessions: Starts its child.
        problem: Supplies the files.
        deadlines: For its requests.
    """

    def __init__(self, sessions: Sessions, problem: Problem, deadlines: Deadlines) -> None:
        self.problem = problem
        self._sessions = sessions
        self._deadlines = deadlines
        self._session: Session | None = None
        self._is_reference = problem.reference is not None
        self._name = REFERENCE if self._is_reference else SUBMITTED
        self._dims: dict[str, dict[str, Any]] = {}
        self.adopt(problem)

    def adopt(self, problem: Problem) -> bool:
        """Take on another job over the same files; say whether that is possible."""
        if (problem.kernel, problem.reference) != (self.problem.kernel, self.problem.reference):
            return False
        if _needs_kernel(problem) and not _needs_kernel(self.problem):
            return False
        self.problem = problem
        self._dims = {each.name: dict(each.dims) for each in problem.workloads}
        return True

    def prepare(self, case: Case, *, lane: int = 0) -> Prepared:
        """Evaluate a case and put its inputs and weights into a lane's shared memory.

        Raises:
            OracleFailed: The user's code refuses the case; the message says how and where.
        """
        answer = self.ask("prepare", {**self.payload(case), "lane": lane})
        names = tuple(each.name for each in case.inputs)
        names = names or tuple(f"input {i}" for i in range(len(answer["inputs"])))
        payload = {
            "arguments": answer["arguments"],
            "seed": case.seed,
            "dtype": case.dtype,
            "memory_format": case.memory_format,
            "dims": self._dims.get(case.workload) or {},
            "inputs": answer["inputs"],
            "state": answer["state"],
            "names": list(names),
            "lane": lane,
        }
        return Prepared(
            payload,
            names,
            int(answer["output_count"]),
            int(answer["output_bytes"]),
            frozenset(names[i] for i in answer["mutated"]),
            frozenset(answer["aliased"]),
            bool(answer["differs"]),
            tuple(answer["notes"]),
            tuple(answer["shapes"]),
        )

    def payload(self, case: Case) -> dict[str, Any]:
        """Return what the oracle's child needs to know about a case."""
        return {
            **payload_of(case, fill=case.fill, seed=case.seed),
            **self._role(),
            "repeat": not self._sessions.is_interpreted,
            "dims": self._dims.get(case.workload) or {},
        }

    def workload_payload(self, workload: Workload, *, seed: int) -> dict[str, Any]:
        """Return what the oracle's child needs to know about a workload that is timed."""
        fields = payload_of(workload, fill=Fill.RANDOM, seed=seed)
        return {**fields, **self._role(), "dims": dict(workload.dims)}

    def _role(self) -> dict[str, Any]:
        return {"name": self._name, "fallback": SUBMITTED, "is_reference": self._is_reference}

    def compare(
        self,
        case: Case,
        outputs: Sequence[Mapping[str, Any]],
        again: Sequence[Mapping[str, Any]] = (),
        *,
        lane: int = 0,
    ) -> tuple[tuple[OutputEvidence, ...], int]:
        """Compare outputs in shared memory with the oracle's.

        Returns:
            Evidence per output, and how many elements differ between both calls.
        """
        payload = {
            **self.payload(case),
            "outputs": list(outputs),
            "again": list(again),
            "rtol": case.rtol,
            "atol": case.atol,
            "lane": lane,
        }
        answer = self.ask("compare", payload)
        return tuple(map(read_output, answer["outputs"])), int(answer["differing"])

    def ask(self, op: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Ask the oracle's child, starting it where needed.

        Raises:
            OracleFailed: It cannot answer.
        """
        try:
            return self._started().ask(op, payload, seconds=self._deadlines.oracle)
        except CandidateError as error:
            if self._session is not None and not self._session.is_alive:
                self._session.close()
                self._session = None
            raise OracleFailed(self._words(error)) from error

    def _words(self, error: CandidateError) -> str:
        reference = self.problem.reference
        file = self.problem.kernel if reference is None else reference
        line = error.line if isinstance(error, CandidateRaised) else None
        place = file.path if line is None else f"{file.path}:{line}"
        return f"{place}: {error.message}"

    def _started(self) -> Session:
        if self._session is None:
            files = []
            if _needs_kernel(self.problem):
                files.append((SUBMITTED, self.problem.kernel.text))
            if self.problem.reference is not None:
                files.append((REFERENCE, self.problem.reference.text))
            self._session = self._sessions.start(
                "oracle", files=files, load_seconds=self._deadlines.load
            )
        return self._session

    def close(self) -> None:
        """End its child."""
        if self._session is not None:
            self._session.close()
            self._session = None


def _needs_kernel(problem: Problem) -> bool:
    """Whether the kernel is the oracle, or its file's helpers may be wanted."""
    is_complete = all(each.inputs and each.init_args is not None for each in problem.workloads)
    return problem.reference is None or not is_complete


def payload_of(source: Case | Workload, *, fill: Fill, seed: int) -> dict[str, Any]:
    """Return what a child needs to know to construct a model and draw its inputs."""
    return {
        "fill": str(fill),
        "seed": seed,
        "inputs": [spec_fields(each) for each in source.inputs],
        "init_args": None if source.init_args is None else list(source.init_args),
        "dtype": source.dtype,
        "memory_format": source.memory_format,
    }


def spec_fields(spec: TensorSpec) -> dict[str, Any]:
    """Return the fields of a tensor recipe as JSON carries them."""
    return {
        "name": spec.name,
        "shape": list(spec.shape),
        "dtype": spec.dtype,
        "range": None if spec.range is None else list(spec.range),
        "transforms": list(spec.transforms),
    }


def read_output(fields: Mapping[str, Any]) -> OutputEvidence:
    """Build evidence from the oracle's words."""
    reference = fields["reference_error"]
    first = fields["first_wrong"]

    def optional(name: str) -> float | None:
        value = fields[name]
        return None if value is None else float(value)

    return OutputEvidence(
        index=int(fields["index"]),
        shape=tuple(fields["shape"]),
        expected_shape=tuple(fields["expected_shape"]),
        dtype=str(fields["dtype"]),
        expected_dtype=str(fields["expected_dtype"]),
        strides=tuple(fields["strides"]),
        expected_strides=tuple(fields["expected_strides"]),
        device=str(fields["device"]),
        wrong_count=int(fields["wrong_count"]),
        unwritten_count=int(fields["unwritten_count"]),
        nan_count=int(fields["nan_count"]),
        expected_nan_count=int(fields["expected_nan_count"]),
        first_wrong=None if first is None else tuple(first),
        first_got=optional("first_got"),
        first_expected=optional("first_expected"),
        max_abs_error=float(fields["max_abs_error"]),
        error=float(fields["error"]),
        reference_error=None if reference is None else float(reference),
        scale=float(fields["scale"]),
    )
