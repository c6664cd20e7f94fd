"""What a child left behind is copied as plain files or not at all."""

import json
import os
from pathlib import Path

from bench_workers.host.kernel_cache import carry_cache


def test_carried_caches_hold_plain_files_only(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("host", encoding="utf-8")
    cache, kept = tmp_path / "cache", tmp_path / "kept"
    (cache / "abc").mkdir(parents=True)
    (cache / "abc" / "k.cubin").write_bytes(b"code")
    (cache / "abc" / "link.json").symlink_to(secret)
    (cache / "abc" / "deeper").mkdir()
    (cache / "evil").symlink_to(tmp_path)
    os.mkfifo(cache / "abc" / "pipe")
    group = {"child_paths": {"k.cubin": "/etc/passwd", "../x": "y"}}
    (cache / "abc" / "__grp__k.json").write_text(json.dumps(group), encoding="utf-8")
    carry_cache(cache, kept, seen_as="/job/cache")
    found = sorted(str(path.relative_to(kept)) for path in kept.rglob("*"))
    assert found == ["abc", "abc/__grp__k.json", "abc/k.cubin"]
    moved = json.loads((kept / "abc" / "__grp__k.json").read_text(encoding="utf-8"))
    assert moved == {
        "child_paths": {"k.cubin": "/job/cache/abc/k.cubin", "../x": "/job/cache/abc/x"}
    }


def test_a_missing_cache_is_an_empty_one(tmp_path: Path) -> None:
    carry_cache(tmp_path / "none", tmp_path / "kept", seen_as="/job/cache")
    assert not (tmp_path / "kept").exists()


def test_what_was_kept_is_not_replaced(tmp_path: Path) -> None:
    cache, kept = tmp_path / "cache", tmp_path / "kept"
    (cache / "abc").mkdir(parents=True)
    (cache / "abc" / "k.cubin").write_bytes(b"code")
    carry_cache(cache, kept, seen_as="/job/cache")
    (cache / "abc" / "k.cubin").write_bytes(b"other code")
    (cache / "abc" / "k.json").write_bytes(b"{}")
    carry_cache(cache, kept, seen_as="/job/cache")
    assert (kept / "abc" / "k.cubin").read_bytes() == b"code"
    assert (kept / "abc" / "k.json").read_bytes() == b"{}"
