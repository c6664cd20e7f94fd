"""Everything this project raises on purpose.

XeForgeError
|-- UserError            the request is wrong; retrying cannot help     -> exit 2, HTTP 4xx
|   |-- BadKernel            source cannot be read as a kernel
|   |-- BadSpec              YAML spec breaks its schema or contradicts itself
|   `-- BadRequest           an option, a path, a job id or a device name is wrong
|-- CandidateError       the candidate is wrong; try another one        -> trial "rejected"
|   |-- CandidateRaised      its code raised
|   |-- CandidateTimeout     it used up its deadline
|   `-- CandidateDied        its process ended (crash, memory limit, exit call)
`-- PlatformError        we are wrong; the same step may be tried again -> "void", exit 5
|-- DeviceLost           the card does not answer
|-- ToolchainMissing     something that must be installed is not
|-- OutOfHostResources   disk, memory or processes of this machine
|-- OracleFailed         the user's reference could not be evaluated
|-- LeaseLost            another worker owns this step now
`-- StoreConflict        the step was already recorded
"""

from pathlib import Path


class XeForgeError(Exception):
    """Root of the tree; `code` is stable and appears in logs, JSON and documentation."""

    code = "internal"


class UserError(XeForgeError):
    """The request cannot be served as it stands.

    Args:
        message: What is wrong, one sentence.
        file: The file that holds the fault.
        line: One-based line in `file`.
        field: Dotted path of the field, e.g. ``bench-gpu[0].dims.M``.
        remedy: What the user can do about it.
    """

    code = "user_error"

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        field: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = None if file is None else str(file)
        self.line = line
        self.field = field
        self.remedy = remedy

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        head = ": ".join(part for part in (place, self.field, self.message) if part)
        return f"{head}\n  remedy: {self.remedy}" if self.remedy else head


class BadKernel(UserError):
    """The source cannot be read as a kernel file."""

    code = "bad_kernel"


class BadSpec(UserError):
    """The YAML spec breaks its schema or contradicts itself."""

    code = "bad_spec"


class BadRequest(UserError):
    """An option, a path, a job id or a device name is wrong."""

    code = "bad_request"


class CandidateError(XeForgeError):
    """The candidate's own code failed; `message` carries its last words, length-limited."""

    code = "candidate_error"

    def __init__(self, message: str, *, stderr_tail: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.stderr_tail = stderr_tail


class CandidateRaised(CandidateError):
    """The candidate's code raised an exception.

    Args:
        message: Exception type and text.
        kind: Exception class name, e.g. ``"OutOfResources"``.
        line: One-based line in the candidate's file, where known.
    """

    code = "candidate_raised"

    def __init__(
        self, message: str, *, kind: str = "", line: int | None = None, stderr_tail: str = ""
    ) -> None:
        super().__init__(message, stderr_tail=stderr_tail)
        self.kind = kind
        self.line = line


class CandidateTimeout(CandidateError):
    """The candidate used up its deadline and was killed."""

    code = "candidate_timeout"


class CandidateDied(CandidateError):
    """The candidate's process ended without an answer (crash, memory limit, exit call)."""

    code = "candidate_died"


class PlatformError(XeForgeError):
    """Our own fault or the machine's; costs the candidate nothing."""

    code = "platform_error"

    def __init__(self, message: str, *, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n  remedy: {self.remedy}" if self.remedy else self.message


class DeviceLost(PlatformError):
    """The card does not answer any more."""

    code = "device_lost"


class ToolchainMissing(PlatformError):
    """Something that must be installed is not; `remedy` is the command that installs it."""

    code = "toolchain_missing"


class OutOfHostResources(PlatformError):
    """Disk, memory or processes of this machine are used up."""

    code = "out_of_host_resources"


class OracleFailed(PlatformError):
    """The user's reference could not be evaluated; reported to the user as such."""

    code = "oracle_failed"


class LeaseLost(PlatformError):
    """Another worker owns this step now; whatever was computed must be thrown away."""

    code = "lease_lost"


class StoreConflict(PlatformError):
    """The step was already recorded; the second answer is refused."""

    code = "store_conflict"
