import socket
import subprocess
import time
from pathlib import Path

import pytest

from bench_workers.child.protocol import ProtocolError
from bench_workers.child.protocol import encode
from bench_workers.sandbox import channel as module
from bench_workers.sandbox.channel import Channel
from bench_workers.sandbox.channel import Closed
from bench_workers.sandbox.channel import Deadline


@pytest.fixture(params=["with a descriptor of the end", "on an old kernel"])
def pair(request, monkeypatch):
    """Return a channel, the other side's socket, and a process whose end can be caused."""
    if request.param == "on an old kernel":
        monkeypatch.setattr(module.os, "pidfd_open", lambda _: (_ for _ in ()).throw(OSError))
    ours, theirs = socket.socketpair()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process, theirs:
        channel = Channel(ours, process.pid)
        yield channel, theirs, process
        channel.close()


def test_an_answer_comes_back(pair):
    channel, theirs, _ = pair
    theirs.sendall(encode({"id": 1}) + encode({"id": 2}))
    assert channel.exchange(encode({"op": "x"}), seconds=5) == {"id": 1}
    assert channel.exchange(b"", seconds=5) == {"id": 2}
    assert theirs.recv(100) == encode({"op": "x"})


def test_silence_ends_at_the_deadline(pair):
    channel, theirs, _ = pair
    theirs.sendall(b"\x00\x00")
    began = time.monotonic()
    with pytest.raises(Deadline):
        channel.exchange(b"", seconds=0.1)
    assert 0.1 <= time.monotonic() - began < 5


def test_a_side_that_does_not_read_ends_at_the_deadline(pair):
    channel, _, _ = pair
    with pytest.raises(Deadline):
        channel.exchange(b"x" * (8 << 20), seconds=0.1)


def test_the_end_of_the_process_is_seen_though_the_socket_stays_open(pair):
    channel, _, process = pair
    assert not channel.has_process_ended()
    assert not channel.wait_for_end(0.01)
    process.kill()
    with pytest.raises(Closed):
        channel.exchange(b"", seconds=30)
    assert channel.has_process_ended()
    process.wait()
    assert channel.wait_for_end(0.0)


def test_what_was_said_before_the_end_is_heard(pair):
    channel, theirs, process = pair
    theirs.sendall(encode({"text": "x" * 100_000}))
    process.kill()
    assert channel.wait_for_end(10)
    assert channel.exchange(b"", seconds=5) == {"text": "x" * 100_000}


def test_a_closed_socket_is_seen(pair):
    channel, theirs, _ = pair
    theirs.close()
    with pytest.raises(Closed):
        channel.exchange(encode({"op": "x"}), seconds=5)


def test_garbage_is_refused(pair):
    channel, theirs, _ = pair
    theirs.sendall(b"HTTP/1.1 200 OK\r\n")
    with pytest.raises(ProtocolError, match="announces"):
        channel.exchange(b"", seconds=5)


def test_descriptors_are_given_back():
    before = len(list(Path("/proc/self/fd").iterdir()))
    ours, theirs = socket.socketpair()
    with subprocess.Popen(["true"]) as process, theirs:
        Channel(ours, process.pid).close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
