"""Runs one source on all cases, each apart from the others' failures, and collects the facts.

The oracle works beside the candidate: while one case runs, the next one is prepared and the last
one's outputs are compared. Two lanes of shared memory keep them apart.
"""

from collections import deque
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench_workers.host.oracle import Oracle
from bench_workers.host.oracle import Prepared
from bench_workers.host.sessions import LANES
from bench_workers.host.sessions import Deadlines
from bench_workers.host.sessions import Session
from bench_workers.host.sessions import Sessions
from xeforge.domain.case import Case
from xeforge.domain.case import CaseKind
from xeforge.domain.case import Fill
from xeforge.domain.evidence import CaseEvidence
from xeforge.domain.evidence import CaseStatus
from xeforge.domain.evidence import Evidence
from xeforge.domain.evidence import Launch
from xeforge.domain.evidence import MemoryFault
from xeforge.domain.evidence import OutputEvidence
from xeforge.errors import CandidateDied
from xeforge.errors import CandidateError
from xeforge.errors import CandidateRaised
from xeforge.errors import CandidateTimeout
from xeforge.errors import OracleFailed

CANDIDATE = "candidate"
_MOST_RESTARTS = 3
"""Of the submitted kernel, whose user wants to know all; one death settles a candidate."""
_MOST_TIMEOUTS = 2
"""Each costs a whole deadline, and code that hangs twice hangs."""
_MOST_CONFIGURATIONS = 32
_UNCHECKABLE = "uncheckable"
_OUTPUT_ROOM = 16
_OUTPUT_ROOM_BYTES = 64 << 20
"""Outputs of two calls may take so many times what the oracle's take, and this much more: they may
be of a wider format, or too many. Beyond that nothing is gained by looking at them."""

Finding = Callable[[], CaseEvidence]
"""Gives the evidence once the oracle has compared."""


@dataclass(slots=True)
class Findings:
    """What was learnt about the source as a whole."""

    launches: tuple[Launch, ...] = ()
    library_calls: set[str] = field(default_factory=set)
    device_copies: set[str] = field(default_factory=set)
    state_mismatch: str = ""
    notes: list[str] = field(default_factory=list)


class Examination:
    """One source, one child at a time, a new child after each one that ended.

    Args:
        sessions: Starts children.
        oracle: Knows the right answers.
        source: Kernel file to examine.
        deadlines: For the child's requests.
        cache: Folder of compiled kernels of this very source, to start from and to add to.
        all_configurations: Whether each autotune configuration must be right on every plain
            case; otherwise on declared shapes only.
    """

    def __init__(
        self,
        sessions: Sessions,
        oracle: Oracle,
        source: str,
        deadlines: Deadlines,
        *,
        cache: Path | None = None,
        all_configurations: bool,
    ) -> None:
        self._sessions = sessions
        self._oracle = oracle
        self._source = source
        self._deadlines = deadlines
        self._cache = cache
        self._all = all_configurations
        self._session: Session | None = None
        self._ended = 0
        self._timeouts = 0
        self._load_error: CandidateError | None = None
        self._found = Findings()
        self._tuned: set[str] = set()
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="oracle")

    def run(self, cases: Sequence[Case]) -> Evidence:
        """Examine all cases in order."""
        try:
            collected = tuple(each() for each in self._findings(cases))
        except (KeyboardInterrupt, SystemExit):
            self._beside.shutdown(wait=False, cancel_futures=True)
            self._oracle.close()  # nobody waits for what it is at
            raise
        finally:
            self._beside.shutdown(cancel_futures=True)
            self._drop()
        found = self._found
        return Evidence(
            cases=collected,
            launches=found.launches,
            library_calls=tuple(sorted(found.library_calls)),
            device_copies=tuple(sorted(found.device_copies)),
            state_mismatch=found.state_mismatch,
            interpreted=self._sessions.is_interpreted,
            notes=tuple(dict.fromkeys(found.notes)),
        )

    def _findings(self, cases: Sequence[Case]) -> list[Finding]:
        ahead = deque(self._prepare(each, 0) for each in cases[:1])
        findings = []
        for index, case in enumerate(cases):
            if self._gives_up():
                findings.append(_known(self._untried(case)))
                continue
            following = cases[index + 1 : index + 2]
            ahead.extend(self._prepare(each, (index + 1) % LANES) for each in following)
            findings.append(self._case(case, ahead.popleft()))
        return findings

    def _prepare(self, case: Case, lane: int) -> Future[Prepared]:
        return self._beside.submit(self._oracle.prepare, case, lane=lane)

    def _gives_up(self) -> bool:
        restarts, timeouts = (_MOST_RESTARTS, _MOST_TIMEOUTS) if self._all else (0, 1)
        is_ended = self._ended > restarts or self._timeouts >= timeouts
        return is_ended or bool(self._found.state_mismatch)

    def _untried(self, case: Case) -> CaseEvidence:
        times = f" {self._ended} times" if self._ended > 1 else ""
        words = f"not tried: the code ended its process{times} before"
        return replace(_blank(case), message=self._found.state_mismatch or words)

    def _case(self, case: Case, preparing: Future[Prepared]) -> Finding:
        blank = _blank(case)
        try:
            prepared = preparing.result()
        except OracleFailed as error:
            failed = replace(blank, status=CaseStatus.REFERENCE_RAISED, message=error.message)
            return _known(failed)
        self._found.notes += prepared.notes
        try:
            return self._checked(case, prepared, blank)
        except CandidateError as error:
            return _known(self._failed(blank, error))

    def _failed(self, blank: CaseEvidence, error: CandidateError) -> CaseEvidence:
        if self._session is not None and not self._session.is_alive:
            self._drop()
            self._ended += 1
        message = error.message
        if isinstance(error, CandidateTimeout):
            self._timeouts += 1
            return replace(blank, status=CaseStatus.TIMED_OUT, message=message)
        if isinstance(error, CandidateDied):
            words = f"{message}\n{error.stderr_tail}".strip()
            return replace(blank, status=CaseStatus.DIED, message=words)
        line = error.line if isinstance(error, CandidateRaised) else None
        is_unchecked = isinstance(error, CandidateRaised) and error.kind == _UNCHECKABLE
        status = CaseStatus.UNCHECKED if is_unchecked else CaseStatus.RAISED
        return replace(blank, status=status, message=message, line=line)

    def _checked(self, case: Case, prepared: Prepared, blank: CaseEvidence) -> Finding:
        """Run the case, with each autotune configuration where asked, and keep the worst."""
        is_first = not self._found.launches
        needs_all = is_first or not self._sessions.is_interpreted
        answer = self._call(prepared, 0, again="always" if needs_all else "if_needed")
        if answer.get("state_mismatch"):
            self._found.state_mismatch = str(answer["state_mismatch"])
            return _known(replace(blank, message=self._found.state_mismatch))
        self._remember(answer)
        first = self._evidence(case, prepared, blank, answer)
        count = min(int(answer["configurations"]), _MOST_CONFIGURATIONS)
        if not self._tries_all(case) or count <= 1:
            return first
        worst = first()
        for configuration in range(1, count):
            if is_wrong(worst):
                break
            try:
                answer = self._call(prepared, configuration, again="if_needed")
            except CandidateRaised as error:
                words = f"autotune configuration {configuration}: {error.message}"
                return _known(
                    replace(blank, status=CaseStatus.RAISED, message=words, line=error.line)
                )
            worst = self._evidence(case, prepared, blank, answer)()
        return _known(worst)

    def _tries_all(self, case: Case) -> bool:
        """Whether each autotune configuration is tried; once for each set of shapes."""
        shapes = case.id.partition("#")[0]
        if case.fill is not Fill.RANDOM or shapes in self._tuned:
            return False
        self._tuned.add(shapes)
        return self._all or case.kind in (CaseKind.DECLARED, CaseKind.SHRUNK)

    def _call(self, prepared: Prepared, configuration: int, *, again: str) -> dict[str, Any]:
        payload = {
            **prepared.payload,
            "name": CANDIDATE,
            "configuration": configuration,
            "again": again,
        }
        room = _OUTPUT_ROOM * prepared.output_bytes + _OUTPUT_ROOM_BYTES
        return self._started().ask("call", payload, seconds=self._deadlines.case, most_bytes=room)

    def _started(self) -> Session:
        if self._load_error is not None:
            raise self._load_error
        if self._session is None:
            try:
                self._session = self._sessions.start(
                    "run",
                    files=[(CANDIDATE, self._source)],
                    load_seconds=self._deadlines.load,
                    cache=self._cache,
                )
            except CandidateError as error:
                self._load_error = error
                raise
        return self._session

    def _drop(self) -> None:
        if self._session is not None:
            if self._cache is not None and self._session.is_alive:
                self._session.keep_cache(self._cache)
            self._sessions.retire(self._session)
            self._session = None

    def _remember(self, answer: Mapping[str, Any]) -> None:
        found = self._found
        if not found.launches:
            found.launches = tuple(
                Launch(str(each["kernel"]), tuple(each["grid"])) for each in answer["launches"]
            )
        found.library_calls |= set(map(str, answer["library_calls"]))
        found.device_copies |= set(map(str, answer["device_copies"]))
        found.notes += map(str, answer["notes"])

    def _evidence(
        self, case: Case, prepared: Prepared, blank: CaseEvidence, answer: Mapping[str, Any]
    ) -> Finding:
        """Have the outputs compared beside what comes next."""
        comparing = self._beside.submit(
            self._oracle.compare,
            case,
            answer["outputs"],
            answer["again"],
            lane=prepared.payload["lane"],
        )
        return lambda: _evidence(prepared, blank, answer, comparing.result())


def _blank(case: Case) -> CaseEvidence:
    return CaseEvidence(case.id, str(case.kind), str(case.fill), CaseStatus.UNCHECKED)


def _known(evidence: CaseEvidence) -> Finding:
    return lambda: evidence


def _evidence(
    prepared: Prepared,
    blank: CaseEvidence,
    answer: Mapping[str, Any],
    compared: tuple[tuple[OutputEvidence, ...], int],
) -> CaseEvidence:
    outputs, differing = compared
    chosen = str(answer["configuration"])
    return replace(
        blank,
        status=CaseStatus.RAN,
        message=f"autotune configuration {chosen}" if chosen else "",
        outputs=outputs,
        output_count=len(answer["outputs"]),
        expected_output_count=prepared.output_count,
        mutated_inputs=tuple(each for each in answer["mutated"] if each not in prepared.mutated),
        aliased_outputs=tuple(i for i in answer["aliased"] if i not in prepared.aliased),
        differs_between_runs=differing > 0,
        reference_differs_between_runs=prepared.differs,
        stale_outputs=bool(answer["stale"]),
        memory_faults=tuple(map(read_fault, answer["faults"])),
        redirected_devices=tuple(map(str, answer["redirected"])),
        seconds=float(answer["seconds"]),
    )


def is_wrong(evidence: CaseEvidence) -> bool:
    """Whether a case shows something that stops the search for worse."""
    return bool(
        evidence.memory_faults
        or evidence.output_count != evidence.expected_output_count
        or any(_is_output_wrong(each) for each in evidence.outputs)
    )


def _is_output_wrong(output: OutputEvidence) -> bool:
    return output.wrong_count > 0 or output.unwritten_count > 0


def read_fault(fields: Mapping[str, Any]) -> MemoryFault:
    """Build evidence of an access outside its tensor from the child's words."""
    line = fields.get("line")
    return MemoryFault(
        access=str(fields["access"]),
        kernel=str(fields["kernel"]),
        line=line if isinstance(line, int) else None,
        argument=str(fields["argument"]),
        program=tuple(fields["program"]),
        offset_bytes=int(fields["offset_bytes"]),
    )
