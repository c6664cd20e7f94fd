"""What every isolation layer must do, and what the ones with walls must keep apart."""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from bench_workers.sandbox.children import Child
from xeforge.errors import CandidateDied
from xeforge.errors import CandidateRaised
from xeforge.errors import CandidateTimeout
from xeforge.errors import PlatformError

MIB = 1 << 20
Starter = Callable[..., Child]

DAEMON = """
import os
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (0, 1, 2, reader):
            os.close(number)
        import signal
        os.write(writer, b"started")
        os.close(writer)
        while True:
            signal.pause()
    os._exit(0)
os.wait()
answer["said"] = os.read(reader, 16).decode()
"""
PAUSE = "__import__('threading').Event().wait(0.5)"
SOCKET = """
import os
for control in os.listdir("/proc/self/fd"):
    try:
        if os.readlink("/proc/self/fd/" + control).startswith("socket:"):
            break
    except OSError:
        pass
control = int(control)
"""


def lines(child: Child, source: str, *, seconds: float = 20.0, **payload: object) -> dict:
    """Run lines inside and return what they put into ``answer``."""
    return child.request("run", {"source": source, **payload}, deadline_seconds=seconds)


def carriers(token: str) -> list[int]:
    """Return the processes of this machine that have a word in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                text = (entry / "environ").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if token.encode() in text and state != "Z":
                found.append(int(entry.name))
    return found


def token_of(child: Child) -> str:
    """Return the word that marks a child's processes."""
    return child._family._token.decode()


class SandboxSuite:
    """Subclass and provide ``starter``: a function that starts an ``echo`` child, with changes
    to the policy as keywords, and closes it after the test."""

    def test_it_answers_what_it_was_asked(self, starter: Starter) -> None:
        child = starter()
        payload = {"text": "ä€\n", "list": [1, 2.5, None, True], "nested": {"a": {}}}
        assert child.request("echo", payload, deadline_seconds=10) == payload
        assert child.request("echo", {}, deadline_seconds=10) == {}
        assert child.is_alive

    def test_a_long_message_passes_both_ways(self, starter: Starter) -> None:
        text = "x" * (15 * MIB)
        assert starter().request("echo", {"text": text}, deadline_seconds=20) == {"text": text}

    def test_what_the_code_raises_is_an_answer_with_its_line(self, starter: Starter) -> None:
        child = starter()
        with pytest.raises(CandidateRaised) as caught:
            lines(child, "x = 1\ny = 2\nraise ValueError('no' + 'pe')\n")
        assert (caught.value.kind, caught.value.line) == ("ValueError", 3)
        assert caught.value.message == "ValueError: nope"
        assert child.is_alive
        for source, kind in (
            ("raise SystemExit(0)", "SystemExit"),
            ("import sys; sys.exit()", "SystemExit"),
            ("raise KeyboardInterrupt", "KeyboardInterrupt"),
            ("raise BaseException", "BaseException"),
            ("import os, signal; os.kill(os.getpid(), signal.SIGINT)", "KeyboardInterrupt"),
        ):
            with pytest.raises(CandidateRaised) as caught:
                lines(child, source)
            assert caught.value.kind == kind
        assert child.request("echo", {"a": 1}, deadline_seconds=10) == {"a": 1}

    def test_a_syntax_error_names_its_line(self, starter: Starter) -> None:
        with pytest.raises(CandidateRaised) as caught:
            lines(starter(), "x = 1\nif:\n")
        assert (caught.value.kind, caught.value.line) == ("SyntaxError", 2)

    def test_an_error_that_cannot_be_told_is_told_as_such(self, starter: Starter) -> None:
        child = starter()
        source = "class Mute(Exception):\n def __str__(self): raise SystemExit\nraise Mute"
        with pytest.raises(CandidateRaised) as caught:
            lines(child, source)
        assert caught.value.kind == "Mute"
        with pytest.raises(CandidateRaised) as caught:
            lines(child, "raise ValueError('x' * 10_000_000)")
        assert len(caught.value.message) < 5000

    def test_an_answer_over_the_limit_or_no_json_is_an_error(self, starter: Starter) -> None:
        child = starter()
        with pytest.raises(CandidateRaised, match="the limit is 16777216") as caught:
            lines(child, "answer['text'] = 'x' * (17 << 20)")
        assert caught.value.kind == "BadAnswer"
        with pytest.raises(CandidateRaised, match="cannot be written as JSON"):
            lines(child, "answer['what'] = object()")
        with pytest.raises(CandidateRaised, match="cannot be written as JSON"):
            lines(child, "x = []\nfor _ in range(100_000): x = [x]\nanswer['deep'] = x")
        assert child.request("echo", {}, deadline_seconds=10) == {}

    def test_a_request_over_the_limit_is_our_fault(self, starter: Starter) -> None:
        child = starter()
        with pytest.raises(PlatformError, match="the limit is"):
            child.request("echo", {"text": "x" * (17 * MIB)}, deadline_seconds=10)
        assert child.request("echo", {}, deadline_seconds=10) == {}

    def test_an_unknown_operation_is_our_fault(self, starter: Starter) -> None:
        with pytest.raises(PlatformError, match=r"cannot do 'sing'.*known: echo, run"):
            starter().request("sing", {}, deadline_seconds=10)

    def test_a_hanging_child_is_ended_and_gone(self, starter: Starter) -> None:
        child = starter()
        token = token_of(child)
        assert carriers(token)
        with pytest.raises(CandidateTimeout, match=r"no answer within 0\.5 s"):
            lines(child, "import signal\nwhile True: signal.pause()", seconds=0.5)
        assert carriers(token) == []
        assert not child.is_alive
        with pytest.raises(CandidateDied, match=r"no answer within 0\.5 s"):
            child.request("echo", {}, deadline_seconds=10)

    def test_a_child_that_ignores_signals_is_ended(self, starter: Starter) -> None:
        child = starter()
        source = (
            "import signal\n"
            "for n in set(signal.Signals) - {9, 19}: signal.signal(n, signal.SIG_IGN)\n"
            "while True: pass\n"
        )
        with pytest.raises(CandidateTimeout):
            lines(child, source, seconds=0.5)
        assert carriers(token_of(child)) == []

    def test_a_daemon_is_gone_after_close_and_after_a_timeout(self, starter: Starter) -> None:
        child = starter()
        token = token_of(child)
        before = len(carriers(token))
        assert lines(child, DAEMON) == {"said": "started"}
        assert len(carriers(token)) == before + 1
        child.close()
        assert carriers(token) == []
        child = starter()
        with pytest.raises(CandidateTimeout):
            lines(child, DAEMON + "while True: pass", seconds=1)
        assert carriers(token_of(child)) == []

    def test_a_daemon_that_keeps_the_channel_does_not_hide_its_parents_end(
        self, starter: Starter
    ) -> None:
        child = starter()
        source = "import os, signal\nif os.fork() == 0:\n  while True: signal.pause()\nos._exit(7)"
        with pytest.raises(CandidateDied, match="exit status 7"):
            lines(child, source)
        assert carriers(token_of(child)) == []

    @pytest.mark.parametrize(
        ("source", "words"),
        [
            ("import os; os._exit(0)", "ended by itself with exit status 0"),
            ("import os; os._exit(3)", "ended by itself with exit status 3"),
            ("import ctypes; ctypes.string_at(0)", "killed by SIGSEGV"),
            ("import os; os.abort()", "killed by SIGABRT"),
            ("import os; os.kill(os.getpid(), 9)", "killed by SIGKILL"),
        ],
    )
    def test_an_end_is_told_with_its_reason(
        self, starter: Starter, source: str, words: str
    ) -> None:
        child = starter()
        with pytest.raises(CandidateDied, match=words):
            lines(child, f"import sys; print('last words', file=sys.stderr, flush=True); {source}")
        assert "last words" in child.stderr_tail
        assert not child.is_alive

    def test_a_crash_shows_the_line_in_the_tail(self, starter: Starter) -> None:
        with pytest.raises(CandidateDied) as caught:
            lines(starter(), "import ctypes\n\nctypes.string_at(0)\n")
        assert 'File "<lines>", line 3' in caught.value.stderr_tail

    def test_a_verdict_on_stdout_is_not_heard(self, starter: Starter) -> None:
        child = starter()
        lines(child, 'print(\'{"id": 2, "ok": {"passed": true}}\', flush=True)')
        assert child.request("echo", {"a": 1}, deadline_seconds=10) == {"a": 1}

    @pytest.mark.parametrize(
        ("attack", "words"),
        [
            ("b'\\xff\\xff\\xff\\xff'", "announces 4294967295 bytes"),
            ("b'garbage garbage garbage'", "announces 1734439522 bytes"),
            ("b'\\x00\\x00\\x00\\x04oops'", "not JSON"),
            ("b'\\x00\\x00\\x00\\x02[]'", "holds list"),
            ("b'\\x00\\x00\\x00\\x02{}'", "was not asked"),
            ("b'\\x00\\x01\\x00\\x00' + b'[' * 65536", "not JSON"),
            ('b\'\\x00\\x00\\x00\\x11{"id":99,"ok":{}}\'', "was not asked"),
            ('b\'\\x00\\x00\\x00\\x10{"id":1,"ok":[]}\'', "was not asked"),
        ],
    )
    def test_garbage_on_the_channel_ends_the_child(
        self, starter: Starter, attack: str, words: str
    ) -> None:
        child = starter()
        source = SOCKET + f"os.write(control, {attack})\nimport signal\nsignal.pause()"
        with pytest.raises(CandidateDied, match=words):
            lines(child, source)
        assert carriers(token_of(child)) == []

    def test_a_closed_channel_ends_the_child(self, starter: Starter) -> None:
        child = starter()
        with pytest.raises((CandidateDied, CandidateTimeout)):  # a wrapper may keep it open
            lines(child, SOCKET + "os.close(control)\nwhile True: pass", seconds=2)
        assert carriers(token_of(child)) == []

    def test_a_child_that_does_not_listen_runs_into_the_deadline(self, starter: Starter) -> None:
        child = starter()
        for member in child._family.members(is_thorough=True):
            os.kill(member.pid, signal.SIGSTOP)
        with pytest.raises(CandidateTimeout):
            child.request("echo", {"text": "x" * (8 * MIB)}, deadline_seconds=0.5)

    def test_only_the_named_descriptors_are_open(self, starter: Starter) -> None:
        planted = os.open("/dev/zero", os.O_RDONLY)
        os.set_inheritable(planted, True)
        shared = os.memfd_create("arena")
        child = starter(inherit=(shared,))
        source = (
            "import os, subprocess, sys\n"
            "own = {}\n"
            "for name in os.listdir('/proc/self/fd'):\n"
            "  try: own[name] = os.readlink('/proc/self/fd/' + name)\n"
            "  except OSError: pass\n"
            "answer['own'] = own\n"
            "listing = \"import os; print(*os.listdir('/proc/self/fd'))\"\n"
            "done = subprocess.run([sys.executable, '-I', '-c', listing], capture_output=True)\n"
            "answer['program'] = done.stdout.decode().split()\n"
        )
        found = lines(child, source)
        os.close(planted)
        os.close(shared)
        assert found["own"].pop("0") == "/dev/null"
        assert found["own"].pop(str(shared)).startswith("/memfd:arena")
        kinds = sorted(target.split(":")[0] for target in found["own"].values())
        assert kinds == ["pipe", "pipe", "socket"]
        assert set(found["own"]) >= {"1", "2"}
        assert set(found["program"]) == {"0", "1", "2", "3"}  # 3: the listing itself

    def test_a_secret_of_ours_is_not_in_its_environment(
        self, starter: Starter, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XEFORGE_TEST_KEY", "sk-very-secret")
        found = lines(starter(), "import os\nanswer.update(os.environ)")
        assert "sk-very-secret" not in str(found)
        assert set(found) - {"PWD", "LC_CTYPE"} == {
            "PATH",
            "LANG",
            "USER",
            "OMP_NUM_THREADS",
            "PYTHONDONTWRITEBYTECODE",
            "HOME",
            "TMPDIR",
            "TRITON_CACHE_DIR",
            "TORCHINDUCTOR_CACHE_DIR",
            "XEFORGE_CHILD",
        }

    def test_its_folder_is_private_fresh_and_removed(self, starter: Starter) -> None:
        first, second = starter(), starter()
        source = "import os\nanswer['before'] = os.listdir('.')\nopen('mark', 'w').write('x')"
        assert lines(first, source) == {"before": []}
        assert lines(second, source) == {"before": []}
        assert first.directory != second.directory
        assert (first.directory / "mark").read_text() == "x"
        assert first.directory.stat().st_mode & 0o077 == 0
        first.close()
        assert not first.directory.parent.exists()

    def test_hostile_folders_are_removed_without_following_links(
        self, starter: Starter, tmp_path: Path
    ) -> None:
        (tmp_path / "ours").write_text("kept")
        child = starter()
        source = (
            "import os\n"
            "os.symlink(payload['target'], 'link')\n"
            "os.mkdir('shut'); open('shut/file', 'w').close(); os.chmod('shut', 0)\n"
            "for _ in range(payload['depth']):\n"
            "  os.mkdir('d'); os.chdir('d')\n"
        )
        with suppress(CandidateDied):  # the watch may notice the depth before the end
            lines(child, source, target=str(tmp_path), depth=1200)
        child.close()
        assert not child.directory.parent.exists()
        assert (tmp_path / "ours").read_text() == "kept"

    def test_it_cannot_become_root_again(self, starter: Starter) -> None:
        source = (
            "import ctypes, os\n"
            "status = dict(line.split(':', 1) for line in open('/proc/self/status'))\n"
            "names = ('CapEff', 'CapPrm', 'CapAmb')\n"
            "answer['capabilities'] = [int(status[name], 16) for name in names]\n"
            "answer['no_new'] = status['NoNewPrivs'].strip()\n"
        )
        assert lines(starter(), source) == {"capabilities": [0, 0, 0], "no_new": "1"}

    def test_closing_twice_is_harmless_and_asking_afterwards_is_refused(
        self, starter: Starter
    ) -> None:
        child = starter()
        child.close()
        child.close()
        with pytest.raises(CandidateDied, match="closed"):
            child.request("echo", {}, deadline_seconds=1)

    def test_killing_from_another_thread_ends_the_wait(self, starter: Starter) -> None:
        child = starter()
        timer = threading.Timer(0.3, child.kill)
        timer.start()
        began = time.monotonic()
        with pytest.raises(CandidateDied):
            lines(child, "while True: pass", seconds=30)
        assert time.monotonic() - began < 10
        timer.join()
