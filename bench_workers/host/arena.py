"""Shared memory between the children of one evaluator: one way in, one way out.

The oracle writes inputs and weights into the first file, which candidates can only read. Each
candidate writes its outputs into the second, which the oracle reads.
"""

import fcntl
import os
from typing import Self

_MIB = 1 << 20
_FIRST_BYTES = 64 * _MIB


class SharedMemory:
    """One memory file with a writable and a read-only descriptor; grows, never shrinks."""

    def __init__(self, name: str) -> None:
        self.writable = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.fchmod(self.writable, 0o400)
        os.ftruncate(self.writable, _FIRST_BYTES)
        # Children map it: a file that shrinks under a mapping would end its readers.
        fcntl.fcntl(self.writable, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
        self.readable = os.open(f"/proc/self/fd/{self.writable}", os.O_RDONLY | os.O_CLOEXEC)

    @property
    def size_bytes(self) -> int:
        """Current length."""
        return os.fstat(self.writable).st_size

    def grow(self, needed_bytes: int) -> None:
        """Make room for at least `needed_bytes`; doubling keeps remapping rare."""
        size = self.size_bytes
        while size < needed_bytes:
            size *= 2
        if size != self.size_bytes:
            os.ftruncate(self.writable, size)

    def close(self) -> None:
        """Give the memory back once every child has ended."""
        os.close(self.writable)
        os.close(self.readable)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
