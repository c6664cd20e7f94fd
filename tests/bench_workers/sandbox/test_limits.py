import os

import pytest

from bench_workers.sandbox import limits
from bench_workers.sandbox.limits import _folder_excess
from bench_workers.sandbox.limits import limit_words
from bench_workers.sandbox.policy import default_policy

MIB = 1 << 20


def test_processes_are_limited_by_user_only_where_the_user_is_the_childs_own():
    policy = default_policy("cpu", layer="bare")
    assert "--nproc=512" in limit_words(policy, per_user=True)
    words = limit_words(policy, per_user=False)
    assert not any(word.startswith("--nproc") for word in words)
    assert not any(word.startswith("--as") for word in words)  # drivers reserve terabytes
    assert words[-1] == "--"


def test_a_small_folder_is_fine(tmp_path):
    (tmp_path / "file").write_bytes(b"x" * 1000)
    (tmp_path / "link").symlink_to("/usr")
    assert _folder_excess((tmp_path,), MIB) is None


@pytest.mark.parametrize(
    ("fill", "words"),
    [
        (lambda at: (at / "a").write_bytes(b"x" * (2 * MIB)), "disk limit of 1 MiB reached"),
        (lambda at: at.joinpath(*["d"] * 70).mkdir(parents=True), "deeper than 64"),
        (lambda at: [os.mkfifo(at / str(n)) for n in range(101)], "more than 100 files"),
    ],
)
def test_too_much_is_named(tmp_path, monkeypatch, fill, words):
    monkeypatch.setattr(limits, "_MOST_ENTRIES", 100)
    fill(tmp_path)
    assert words in _folder_excess((tmp_path,), MIB)


def test_a_folder_that_cannot_be_read_is_passed_over(tmp_path):
    assert _folder_excess((tmp_path / "gone", tmp_path), MIB) is None
