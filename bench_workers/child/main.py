"""The untrusted side's entry point: announce, then answer one request after the other.

Run by path as ``main.py ROLE CONTROL_FD OPTIONS_JSON``. Started as ``zygote`` it imports what
it shall and then forks a ``spare`` for each request, see `zygote`. Options:
    paths: Folders to put on the module search path, in front.
    environment: Variables to set before anything is imported.
    preload: Modules to import before the first request.
Whatever else the options hold is for the role's ``setup``.
"""

import contextlib
import faulthandler
import fcntl
import importlib
import json
import os
import signal
import socket
import sys
import types
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120  (pathlib costs start-up)
sys.path.insert(0, HERE)

import protocol  # type: ignore[import-not-found, unused-ignore]  # noqa: E402

ROLES = {
    "prepare": "session",
    "oracle": "session",
    "run": "session",
    "build": "build",
    "count": "count",
    "lower": "lower",
    "echo": "echo",
}
"""Which module does which role's work; a child started as ``spare`` takes its role later."""

SPARE = "spare"
ZYGOTE = "zygote"
_FIRST_FREE_FD = 10


class Server:
    """Holds the role in force and answers requests with it."""

    def __init__(self) -> None:
        self._module: types.ModuleType | None = None

    def take_role(self, role: str, options: dict[str, Any]) -> None:
        """Import the role's module and let it set itself up."""
        if role not in ROLES:
            raise ValueError(f"no role {role!r}; known: {', '.join(ROLES)}")
        self._module = importlib.import_module(ROLES[role])
        setup = getattr(self._module, "setup", None)
        if setup is not None:
            setup(options)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Perform one request; return the answer, with ``ok`` or ``error``."""
        number = request.get("id")
        op = str(request.get("op"))
        payload = {key: value for key, value in request.items() if key not in {"id", "op"}}
        try:
            if op == "take_role":
                self.take_role(payload["role"], payload.get("options", {}))
                return {"id": number, "ok": {}}
            known = getattr(self._module, "OPS", {})
            if op not in known:
                problem = f"no operation {op!r}; known: {', '.join(sorted(known))}"
                return {"id": number, "error": plain_error("UnknownOperation", problem)}
            return {"id": number, "ok": known[op](payload)}
        except BaseException as error:
            return {"id": number, "error": describe(error)}


def plain_error(kind: str, message: str) -> dict[str, Any]:
    """Return the error of our own protocol, not of anyone's code."""
    return {"kind": kind, "message": message, "line": None, "where": "protocol"}


def describe(error: BaseException) -> dict[str, Any]:
    """Say what was raised, and at which line of the candidate's file, following causes."""
    try:
        message = str(error)
    except BaseException:
        message = "(its text cannot be made)"
    line = candidate_line(error)
    return {
        "kind": type(error).__name__[: protocol.KIND_LIMIT_CHARACTERS],
        "message": message[: protocol.MESSAGE_LIMIT_CHARACTERS],
        "line": line,
        "where": "harness" if line is None else "candidate",
    }


def candidate_line(error: BaseException) -> int | None:
    """Return the deepest traceback line inside a candidate file; None where there is none."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        line = None
        trace = current.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename in protocol.CANDIDATE_FILES:
                line = trace.tb_lineno
            trace = trace.tb_next
        if isinstance(current, SyntaxError) and current.filename in protocol.CANDIDATE_FILES:
            line = current.lineno
        if isinstance(line, int):
            return line
        current = current.__cause__ or current.__context__
    return None


def send(channel: socket.socket, answer: dict[str, Any]) -> None:
    """Send an answer; one that is too long or no JSON is replaced by an error."""
    try:
        frame = protocol.encode(answer)
    except protocol.ProtocolError as error:
        problem = {"id": answer.get("id"), "error": plain_error("BadAnswer", str(error))}
        frame = protocol.encode(problem)
    channel.sendall(frame)


def open_channel(number: int) -> socket.socket:
    """Move the control socket out of the way and keep every descriptor from grandchildren."""
    moved = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE_FD)
    os.close(number)
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
        if int(name) > 2:  # noqa: PLR2004  (0-2 are the standard streams)
            with contextlib.suppress(OSError):  # the listing's own descriptor is gone
                os.set_inheritable(int(name), False)
    return socket.socket(fileno=moved)


def preload(names: list[str]) -> dict[str, str]:
    """Import modules; return the version of each that states one."""
    found = {name: importlib.import_module(name) for name in names}
    return {name: str(getattr(module, "__version__", "")) for name, module in found.items()}


def main(role: str, control: int, options: dict[str, Any]) -> None:
    """Serve until the other side closes."""
    faulthandler.enable()
    # Ignored where we were started in the background; code that asks for it shall be heard.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(os.environ["HOME"])
    channel = open_channel(control)
    sys.path[:0] = [path for path in options.get("paths", []) if path not in sys.path]
    os.environ.update(options.get("environment", {}))
    if role == ZYGOTE:
        import zygote  # type: ignore[import-not-found, unused-ignore]

        zygote.before_imports()
        versions = preload(options.get("preload", []))
        zygote.after_imports()
        send(channel, {"ready": True, "versions": versions})
        channel = zygote.serve(channel)
        role = SPARE
    else:
        versions = preload(options.get("preload", []))
    server = Server()
    if role != SPARE:
        server.take_role(role, options)
    send(channel, {"ready": True, "pid": os.getpid(), "versions": versions})
    answer_all(server, channel)


def answer_all(server: Server, channel: socket.socket) -> None:
    """Answer requests until the other side closes."""
    frames = protocol.Frames()
    while True:
        try:
            request = protocol.receive(channel, frames)
            if request is None:
                return
            send(channel, server.answer(request))
        except KeyboardInterrupt:
            continue


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]))
