import pytest

from bench_workers.sandbox import identity
from bench_workers.sandbox.identity import fresh_uid
from bench_workers.sandbox.identity import make_place


def test_no_two_children_are_the_same_user():
    users = [fresh_uid() for _ in range(20)]
    assert len(set(users)) == len(users) or set(users) == {65534}
    assert all(2_000_000_000 <= user < 2_100_000_000 or user == 65534 for user in users)


def test_a_process_that_can_become_few_users_uses_nobody(monkeypatch):
    monkeypatch.setattr(identity.Path, "read_text", lambda *_, **__: "0 100000 65536\n")
    assert fresh_uid() == 65534


def test_folders_are_private_and_fresh(tmp_path):
    places = [make_place(tmp_path / "work", uid=None) for _ in range(2)]
    assert len({place.token for place in places}) == 2
    for place in places:
        for folder in (place.directory, place.scratch, place.root):
            assert folder.stat().st_mode & 0o777 == 0o700
            assert list(folder.iterdir()) == []
        assert place.directory.parent.stat().st_mode & 0o777 == 0o711


def test_folders_cannot_be_made_below_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="Not a directory"):
        make_place(tmp_path / "file", uid=None)
