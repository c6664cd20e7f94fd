"""Length-prefixed JSON over one socket: the only words that cross the sandbox's border.

A frame is a four-byte big-endian length and that many bytes of UTF-8 JSON, always an object.
Both sides import this file: the child by plain name, the host as part of its package. It uses
the standard library alone, so that it can be bound into the sandbox by itself.
"""

import json
import socket
import struct
from collections.abc import Mapping
from typing import Any

LIMIT_BYTES = 16 << 20
MESSAGE_LIMIT_CHARACTERS = 4000
KIND_LIMIT_CHARACTERS = 200

CANDIDATE_FILES: set[str] = set()
"""File names under which candidate code was compiled; a role adds to it, errors look lines up."""

_PREFIX = struct.Struct(">I")
_CHUNK_BYTES = 1 << 18


class ProtocolError(Exception):
    """What arrived, or should be sent, is not a frame; the message says why."""


def encode(message: Mapping[str, Any]) -> bytes:
    """Return the frame of a message.

    Raises:
        ProtocolError: It cannot be written as JSON, or is longer than ``LIMIT_BYTES``.
    """
    try:
        body = json.dumps(message, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ProtocolError(f"the message cannot be written as JSON: {error}") from error
    if len(body) > LIMIT_BYTES:
        raise ProtocolError(f"the message has {len(body)} bytes, the limit is {LIMIT_BYTES}")
    return _PREFIX.pack(len(body)) + body


def decode(body: bytes) -> dict[str, Any]:
    """Return the message of a frame's body.

    Raises:
        ProtocolError: The body is not the UTF-8 text of one JSON object.
    """
    try:
        message = json.loads(body.decode())
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"a frame is not JSON: {str(error)[:200]}") from None
    if not isinstance(message, dict):
        raise ProtocolError(f"a frame holds {type(message).__name__}, not an object")
    return message


class Frames:
    """Cuts a byte stream into messages; holds at most one frame more than was taken."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Append bytes as they came from the socket."""
        self._buffer += data

    def take(self) -> dict[str, Any] | None:
        """Remove and return the next message; None when it is not complete yet.

        Raises:
            ProtocolError: The announced length is over the limit, or the body is not a message.
        """
        if len(self._buffer) < _PREFIX.size:
            return None
        (length,) = _PREFIX.unpack_from(self._buffer)
        if length > LIMIT_BYTES:
            raise ProtocolError(f"a frame announces {length} bytes, the limit is {LIMIT_BYTES}")
        end = _PREFIX.size + length
        if len(self._buffer) < end:
            return None
        body = bytes(self._buffer[_PREFIX.size : end])
        del self._buffer[:end]
        return decode(body)


def receive(channel: socket.socket, frames: Frames) -> dict[str, Any] | None:
    """Block until a whole message has come; None when the other side has closed."""
    while (message := frames.take()) is None:
        data = channel.recv(_CHUNK_BYTES)
        if not data:
            return None
        frames.feed(data)
    return message
