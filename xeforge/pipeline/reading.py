"""One thread at a time makes syntax trees.

Threads perform steps beside each other, and several of these read kernels. Before it was mended
(https://github.com/python/cpython/issues/106905, for 3.11 in December 2023) Python counted the
nested nodes of all threads together: a switch between two that make syntax trees, which a garbage
collection may bring about, ended in ``SystemError: AST constructor recursion depth mismatch``.
Reading holds the interpreter's lock anyway, so nothing is lost.
"""

import threading

READING = threading.RLock()
"""Held while a step reads sources."""
