"""What the host and a zygote say to each other; nothing that a child has said is in it."""

import struct

ORDER = struct.Struct(">cI")
"""To the zygote: what to do, and a process id. Back: ``+`` and a number, or ``-``, 0 and text."""

FORK_INSIDE_WALLS = b"N"
FORK_PLAINLY = b"F"
REAP = b"W"
DONE = b"+"
REFUSED = b"-"

BORN = b"b"
"""First byte on a forked child's own socket; the kernel tells the host who sent it."""
