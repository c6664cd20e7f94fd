"""Shared memory: readers cannot write, nobody can shrink it, it grows."""

import mmap
import os

import pytest

from bench_workers.host.arena import SharedMemory


def test_grows_and_keeps_contents():
    with SharedMemory("test") as room:
        before = room.size_bytes
        os.pwrite(room.writable, b"kept", 0)
        room.grow(before + 1)
        assert room.size_bytes == 2 * before
        assert os.pread(room.readable, 4, 0) == b"kept"
        room.grow(10)
        assert room.size_bytes == 2 * before


def test_the_readable_descriptor_cannot_write():
    with SharedMemory("test") as room:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.pwrite(room.readable, b"x", 0)
        with pytest.raises(PermissionError):
            mmap.mmap(room.readable, 4096, access=mmap.ACCESS_WRITE)


def test_nobody_can_shrink_it():
    with SharedMemory("test") as room, pytest.raises(PermissionError):
        os.ftruncate(room.writable, 0)
