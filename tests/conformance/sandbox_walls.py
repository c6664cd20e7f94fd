"""What isolation layers with walls must keep apart."""

import os
import socket
import sys
from pathlib import Path

import pytest

from tests.conformance.sandbox import MIB
from tests.conformance.sandbox import Starter
from tests.conformance.sandbox import lines
from xeforge.errors import CandidateRaised


class WallSuite:
    """For layers that keep files, network and processes apart; same fixture."""

    def test_no_process_but_its_own_is_seen(self, starter: Starter) -> None:
        source = (
            "import os\n"
            "answer['pids'] = [int(n) for n in os.listdir('/proc') if n.isdigit()]\n"
            "answer['own'] = os.getpid()\n"
        )
        found = lines(starter(), source)
        assert sorted(found["pids"]) == [1, found["own"]]

    def test_a_secret_of_ours_is_readable_nowhere(
        self, starter: Starter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("XEFORGE_TEST_KEY", "sk-very-secret")
        child = starter()
        source = (
            "import os\n"
            "seen = []\n"
            "for pid in filter(str.isdigit, os.listdir('/proc')):\n"
            "  for name in ('environ', 'cmdline', 'maps', 'root/etc/passwd', 'cwd/.git/config'):\n"
            "    try: seen.append(open(f'/proc/{pid}/{name}', 'rb').read().decode('latin-1'))\n"
            "    except OSError: pass\n"
            "answer['seen'] = ''.join(seen)\n"
        )
        seen = lines(child, source)["seen"]
        assert "main.py" in seen  # its own command line was read, so the search searched
        assert "sk-very-secret" not in seen
        assert "XEFORGE_TEST_KEY" not in seen

    def test_the_network_is_out_of_reach(self, starter: Starter) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        child = starter()
        with pytest.raises(CandidateRaised, match=r"ConnectionRefused|unreachable"):
            lines(
                child,
                "import socket\nsocket.create_connection(('127.0.0.1', payload['port']), 2)",
                port=port,
            )
        with pytest.raises(CandidateRaised, match="unreachable"):
            lines(child, "import socket\nsocket.create_connection(('192.0.2.1', 80), 2)")
        listener.close()
        found = lines(child, "import socket\nanswer['n'] = [n for _, n in socket.if_nameindex()]")
        assert found["n"] == ["lo"]

    def test_abstract_sockets_of_the_host_are_out_of_reach(self, starter: Starter) -> None:
        name = f"\0xeforge-test-{os.getpid()}"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(name)
            listener.listen()
            source = "import socket\nsocket.socket(socket.AF_UNIX).connect(payload['name'])"
            with pytest.raises(CandidateRaised, match="refused"):
                lines(starter(), source, name=name)

    def test_neither_repository_nor_home_is_seen(self, starter: Starter, tmp_path: Path) -> None:
        repository = Path(__file__).resolve().parents[2]
        (tmp_path / "reference.py").write_text("secret = 1")
        child = starter()
        source = (
            "import os\n"
            "answer['there'] = [path for path in payload['paths'] if os.path.exists(path)]\n"
            "answer['etc'] = sorted(os.listdir('/etc'))\n"
            "answer['harness'] = sorted(os.listdir('/harness/child'))\n"
        )
        hidden = (
            repository / "pyproject.toml",
            repository / "xeforge",
            repository / "bench_workers",
            tmp_path / "reference.py",
            *map(Path, ("/etc/passwd", "/etc/shadow", "/home", "/var", "/sys", "/run", "/old")),
            Path.home() / ".bashrc",
            child.directory,
        )
        shown = {path for folder in sys.path for path in Path(folder).resolve().parents}
        found = lines(child, source, paths=[str(path) for path in hidden if path not in shown])
        assert found["there"] == []
        assert set(found["etc"]) <= {"ld.so.cache", "alternatives"}
        assert "main.py" in found["harness"]
        assert "sandbox" not in found["harness"]

    def test_only_its_folder_can_be_written(self, starter: Starter) -> None:
        child = starter()
        source = (
            "import os, sys\n"
            "answer['written'] = []\n"
            "for folder in payload['folders'] + [sys.prefix, sys.base_prefix]:\n"
            "  try:\n"
            "    open(folder + '/mark', 'w').close(); answer['written'].append(folder)\n"
            "  except OSError: pass\n"
        )
        folders = ["/", "/usr", "/etc", "/dev", "/proc", "/harness", "/harness/child", "/job"]
        folders += ["/tmp", "/usr/bin", "/dev/shm", "/proc/sys/kernel"]
        found = lines(child, source, folders=folders)
        assert found["written"] == ["/job", "/tmp", "/dev/shm"]
        assert (child.directory / "mark").exists()
        assert [path.name for path in child.directory.iterdir()] == ["mark"]
        source = "os = __import__('os'); os.unlink('/harness/child/main.py')"
        with pytest.raises(CandidateRaised, match=r"Read-only|Permission"):
            lines(child, source)

    def test_a_package_below_the_temporary_folder_is_shown_read_only(
        self, starter: Starter, tmp_path: Path
    ) -> None:
        (tmp_path / "package").mkdir()
        (tmp_path / "package" / "module.py").write_text("x = 1")
        child = starter(readable=(tmp_path / "package",))
        source = (
            "import os\n"
            "where = payload['where']\n"
            "answer['text'] = open(where + '/module.py').read()\n"
            "answer['beside'] = os.listdir(os.path.dirname(where))\n"
            "answer['job'] = os.listdir('/job')\n"
            "open(where + '/mark', 'w')\n"
        )
        with pytest.raises(CandidateRaised, match="Read-only"):
            lines(child, source, where=str(tmp_path / "package"))
        found = lines(child, source.rsplit("open(where", 1)[0], where=str(tmp_path / "package"))
        assert found == {"text": "x = 1", "beside": ["package"], "job": []}

    def test_shared_memory_is_bounded(self, starter: Starter) -> None:
        child = starter(shared_memory_bytes=4 * MIB)
        with pytest.raises(CandidateRaised, match="No space left"):
            lines(child, "open('/dev/shm/x', 'wb').write(b'x' * (5 << 20))")

    def test_the_device_folder_holds_no_disk(self, starter: Starter) -> None:
        source = (
            "import os, stat\n"
            "answer['blocks'] = [n for n in os.listdir('/dev')\n"
            "  if stat.S_ISBLK(os.stat('/dev/' + n, follow_symlinks=False).st_mode)]\n"
            "answer['null'] = os.path.exists('/dev/null')\n"
        )
        assert lines(starter(), source) == {"blocks": [], "null": True}

    def test_mounts_cannot_be_undone(self, starter: Starter) -> None:
        source = (
            "import ctypes, os\n"
            "libc = ctypes.CDLL(None, use_errno=True)\n"
            "answer['remount'] = libc.mount(None, b'/usr', None, 32 | 4096, None)\n"
            "answer['umount'] = libc.umount2(b'/harness/child', 2)\n"
            "answer['chroot'] = libc.chroot(b'/usr')\n"
        )
        assert lines(starter(), source) == {"remount": -1, "umount": -1, "chroot": -1}

    def test_it_compiles_c_as_triton_does(self, starter: Starter) -> None:
        source = (
            "import ctypes, subprocess, sysconfig\n"
            "text = '#include <Python.h>\\nint twice(int x) { return 2 * x; }'\n"
            "open('stub.c', 'w').write(text)\n"
            "headers = '-I' + sysconfig.get_path('include')\n"
            "subprocess.run(['cc', '-shared', '-fPIC', headers, 'stub.c', '-o', 'stub.so'],\n"
            "  check=True)\n"
            "answer['four'] = ctypes.CDLL('./stub.so').twice(2)\n"
        )
        assert lines(starter(), source) == {"four": 4}

    def test_settings_of_the_kernel_cannot_be_written(self, starter: Starter) -> None:
        source = (
            "import os\n"
            "answer['written'] = []\n"
            "for name in ('kernel/core_pattern', 'vm/overcommit_memory', 'kernel/hostname',\n"
            "    'user/max_user_namespaces'):\n"
            "  try: os.close(os.open('/proc/sys/' + name, os.O_WRONLY))\n"
            "  except OSError: continue\n"
            "  answer['written'].append(name)\n"
        )
        assert lines(starter(), source) == {"written": []}
