import importlib.util
import stat
import sys
from pathlib import Path

from bench_workers.sandbox import policy as module
from bench_workers.sandbox.policy import default_policy
from bench_workers.sandbox.policy import parents
from bench_workers.sandbox.policy import system_links
from bench_workers.sandbox.policy import system_paths


def covers(policy, path):
    return any(Path(path).is_relative_to(folder) for folder in (Path("/usr"), *policy.readable))


def test_interpreter_and_packages_can_be_read():
    policy = default_policy("cpu", layer="bubblewrap")
    assert covers(policy, sys.base_prefix)
    assert covers(policy, sys.prefix)
    assert covers(policy, Path(sys.executable).resolve())
    for name in ("torch", "triton", "numpy"):
        assert covers(policy, importlib.util.find_spec(name).origin)


def test_packages_elsewhere_are_found_without_importing_them(tmp_path, monkeypatch):
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "__init__.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "triton", raising=False)
    policy = default_policy("cpu", layer="bubblewrap")
    assert tmp_path in policy.readable
    assert tmp_path in policy.search_paths


def test_no_folder_is_named_twice_or_inside_another():
    readable = default_policy("cuda", layer="bubblewrap").readable
    for path in readable:
        assert not any(path.is_relative_to(other) for other in readable if other != path)
        assert not path.is_relative_to("/usr")


def test_only_named_variables_pass(monkeypatch):
    monkeypatch.setenv("API_KEY", "sk-very-secret")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/usr/lib/driver")
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    cpu = default_policy("cpu", layer="bubblewrap", threads=3).environment
    assert set(cpu) == {"PATH", "LANG", "USER", "OMP_NUM_THREADS", "PYTHONDONTWRITEBYTECODE"}
    assert cpu["OMP_NUM_THREADS"] == "3"
    cuda = default_policy("cuda", layer="bubblewrap").environment
    assert set(cuda) - set(cpu) == {"CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"}
    assert cuda["CUDA_VISIBLE_DEVICES"] == "3"
    assert "ZE_AFFINITY_MASK" not in default_policy("xpu", layer="bubblewrap").environment


def test_devices_are_opened_by_backend_only(monkeypatch):
    monkeypatch.setattr(module, "_DEVICE_NODES", {"cpu": "", "cuda": "nul*", "xpu": "shm"})
    assert default_policy("cpu", layer="bubblewrap").device_nodes == ()
    (node,) = default_policy("cuda", layer="bubblewrap").device_nodes
    assert stat.S_ISCHR(node.stat().st_mode)
    assert default_policy("xpu", layer="bubblewrap").device_nodes == (Path("/dev/shm"),)


def test_parents_come_outermost_first():
    found = parents(("/a/b/c", "/a/d", "/usr"))
    assert found == ("/a", "/a/b")


def test_the_systems_folders_are_there_or_linked():
    linked = {path for _, path in system_links()}
    shown = set(system_paths())
    assert not linked & shown
    for path in ("/lib", "/bin"):
        assert path in linked | shown
    assert "/usr" in shown
