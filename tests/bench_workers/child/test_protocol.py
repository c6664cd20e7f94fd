import socket
import struct

import pytest

from bench_workers.child.protocol import LIMIT_BYTES
from bench_workers.child.protocol import Frames
from bench_workers.child.protocol import ProtocolError
from bench_workers.child.protocol import decode
from bench_workers.child.protocol import encode
from bench_workers.child.protocol import receive


def test_a_frame_is_a_length_and_json():
    assert encode({"id": 1, "op": "ä"}) == b"\x00\x00\x00\x16" + b'{"id":1,"op":"\\u00e4"}'


def test_frames_come_out_as_they_went_in_however_they_are_cut():
    messages = [{"a": 1}, {}, {"text": "x" * 1000, "list": [1, None, 2.5]}]
    stream = b"".join(map(encode, messages))
    for step in (1, 3, 1000, len(stream)):
        frames, found = Frames(), []
        for start in range(0, len(stream), step):
            frames.feed(stream[start : start + step])
            while (message := frames.take()) is not None:
                found.append(message)
        assert found == messages


def test_what_is_too_long_is_refused_both_ways():
    with pytest.raises(ProtocolError, match="the limit is 16777216"):
        encode({"text": "x" * LIMIT_BYTES})
    frames = Frames()
    frames.feed(struct.pack(">I", LIMIT_BYTES + 1))
    with pytest.raises(ProtocolError, match="announces 16777217 bytes"):
        frames.take()


def test_the_longest_frame_passes():
    message = {"text": "x" * (LIMIT_BYTES - len('{"text":""}'))}
    frames = Frames()
    frames.feed(encode(message))
    assert frames.take() == message


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes"])
def test_what_is_no_json_cannot_be_sent(value):
    with pytest.raises(ProtocolError, match="cannot be written as JSON"):
        encode({"value": value})


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not JSON"),
        (b"\xff", "not JSON"),
        (b"{", "not JSON"),
        (b"[1]", "holds list"),
        (b"null", "holds NoneType"),
        (b"[" * 100_000, "not JSON"),
        (b'{"n":' + b"9" * 5000 + b"}", "not JSON"),
    ],
)
def test_what_is_no_object_is_refused(body, words):
    with pytest.raises(ProtocolError, match=words):
        decode(body)


def test_a_closed_socket_ends_the_stream():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(encode({"a": 1}) + b"\x00\x00")
        theirs.shutdown(socket.SHUT_WR)
        frames = Frames()
        assert receive(ours, frames) == {"a": 1}
        assert receive(ours, frames) is None
