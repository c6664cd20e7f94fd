"""One child that loads, builds and runs user code; roles prepare, oracle and run share it.

Every operation answers with facts. What the user's code does wrong comes back as a ``fault``;
whatever else goes wrong is ours and ends in an error frame.
"""

import contextlib
import os
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_MESSAGE_LIMIT = 4000


class Session:
    """State of this child between requests.

    Attributes:
        directory: Private and writable.
        interpreted: Whether Triton's interpreter stands in for a device.
        files: Imported files by module name.
        replaced: Device names that were redirected.
        claims_xpu: Files written for an xpu device.
        memory: What operations keep between requests.
        lanes: Pairs of shared memories: inputs and weights, outputs.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        from arena import Arena
        from device import SessionDevice

        self.options = options
        self.interpreted = bool(options.get("interpret"))
        self.directory = Path.cwd()
        self.device = SessionDevice(str(options["backend"]))
        writes_given = bool(options.get("is_oracle"))
        self.lanes = [
            (
                Arena(int(given), writable=writes_given, device=self.device),
                Arena(int(answers), writable=not writes_given, device=self.device),
            )
            for given, answers in zip(options["given"], options["answers"], strict=True)
        ]
        self.use_lane(0)
        self.files: dict[str, Any] = {}
        self.replaced: set[str] = set()
        self.claims_xpu: set[str] = set()
        self.memory: dict[str, Any] = {}

    def use_lane(self, lane: int) -> None:
        """Read and write the given pair of shared memories from now on."""
        self.given, self.answers = self.lanes[lane]

    @contextlib.contextmanager
    def user_code(self, name: str, *, redirect: bool = True) -> Iterator[None]:
        """Run the user's code with devices redirected; what it raises becomes a `Fault`."""
        from redirect import Redirect
        from redirect import stand_ins
        from spending import user_seconds

        modes = contextlib.ExitStack()
        claim = "xpu" if name in self.claims_xpu else "cuda"
        mode = Redirect(self.device.name, pretend=self.interpreted, claim=claim)
        try:
            with modes:
                if redirect:
                    modes.enter_context(stand_ins(self.device.name, mode.replaced))
                    modes.enter_context(mode)
                modes.enter_context(user_seconds())
                yield
        except BaseException as error:
            raise self._fault(name, error) from error
        finally:
            self.replaced |= mode.replaced

    def _fault(self, name: str, error: BaseException) -> Exception:
        from loading import Fault
        from loading import line_in

        if isinstance(error, Fault):
            return error
        root = error
        while root.__cause__ is not None and type(root).__name__ == "InterpreterError":
            root = root.__cause__
        if type(root).__name__ == "Uncheckable":
            return Fault("uncheckable", str(root))
        path = str(self.directory / f"{name}.py")
        line = line_in(error, path)
        if line is None and isinstance(error, SyntaxError) and error.filename == path:
            line = error.lineno
        text = f"{type(root).__name__}: {root}"[:_MESSAGE_LIMIT]
        return Fault(type(root).__name__, text, line)

    def is_broken(self) -> bool:
        """Whether the device refuses further work in this process."""
        try:
            self.device.synchronize()
        except Exception:
            return True
        return False


_SESSION: dict[str, Session] = {}


def setup(options: dict[str, Any]) -> None:
    """Prepare the process; the device is not touched before the first request.

    Args:
        options: ``backend``, ``interpret``, ``given`` and ``answers`` (descriptor numbers of the
            shared memories, one of each per lane) and ``is_oracle``.
    """
    import interpret

    os.environ.setdefault("TRITON_CACHE_DIR", str(Path.cwd() / "triton"))
    if options.get("interpret"):
        interpret.switch_on()
    _SESSION["options"] = options  # type: ignore[assignment]


def _session() -> Session:
    """Return the session, made at the first request: a warm child touches no device."""
    if "session" not in _SESSION:
        import interpret
        import recorder
        import spending

        options: Any = _SESSION["options"]
        session = Session(options)
        if session.interpreted:
            interpret.install()
        recorder.install()
        spending.install()
        _SESSION["session"] = session
    return _SESSION["session"]


Operation = Callable[[Session, dict[str, Any]], dict[str, Any]]


def _guarded(operation: Operation) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Turn faults of user code and lack of room into answers."""

    def run(payload: dict[str, Any]) -> dict[str, Any]:
        session = _session()

        import spending
        from arena import ArenaFull
        from loading import Fault

        session.use_lane(int(payload.get("lane", 0)))
        try:
            answer = _trimmed(session, operation(session, payload))
        except Fault as fault:
            answer = {
                "fault": {
                    "kind": fault.kind,
                    "message": fault.message,
                    "line": fault.line,
                    "broken": session.is_broken(),
                }
            }
        except ArenaFull as full:
            answer = {"needed_bytes": full.needed_bytes}
        return {**answer, "spent": spending.drain()}

    return run


def _trimmed(session: Session, answer: dict[str, Any]) -> dict[str, Any]:
    session.device.trim()
    return answer


def _open(session: Session, payload: dict[str, Any]) -> dict[str, Any]:
    """Touch the device and say what it is."""
    import torch
    import triton

    if payload.get("warm"):
        import warm_up

        warm_up.run(session)
    answer = session.device.properties()
    answer["torch"] = str(torch.__version__)
    answer["triton"] = str(triton.__version__)
    answer["cache"] = os.environ["TRITON_CACHE_DIR"]
    return answer


def _cards(session: Session, _payload: dict[str, Any]) -> dict[str, Any]:
    """List every unit of the backend."""
    return {"cards": session.device.all_properties()}


def _load(session: Session, payload: dict[str, Any]) -> dict[str, Any]:
    """Import a file; answer which helpers it has."""
    import loading
    import protocol

    name = str(payload["name"])
    protocol.CANDIDATE_FILES.add(str(session.directory / f"{name}.py"))
    text = str(payload["text"])
    if "xpu" in text:
        session.claims_xpu.add(name)
    with session.user_code(name):
        loaded = loading.load(name, text, session.directory)
    loaded.model  # noqa: B018 - raises when there is none
    session.files[name] = loaded
    helpers = ("get_inputs", "get_init_inputs")
    return {"helpers": [each for each in helpers if loaded.helper(each) is not None]}


def _operations() -> Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]:
    import capture
    import conformance
    import describing
    import oracle
    import probing
    import running
    import timed_oracle
    import timing

    table: Mapping[str, Operation] = {
        "open": _open,
        "cards": _cards,
        "load": _load,
        **oracle.OPERATIONS,
        **describing.OPERATIONS,
        **capture.OPERATIONS,
        **timed_oracle.OPERATIONS,
        **running.OPERATIONS,
        **timing.OPERATIONS,
        **conformance.OPERATIONS,
        **probing.OPERATIONS,
    }
    return {name: _guarded(operation) for name, operation in table.items()}


OPS = _operations()
