"""Imported ahead of need: what Triton does before the first compilation and the first launch.

It hashes itself (half a gigabyte), and a launch imports the classes of Gluon's arguments (forty
modules) to tell them from others.
"""

import importlib
import importlib.util

from triton.runtime.cache import triton_key

if importlib.util.find_spec("triton.experimental") is not None:
    importlib.import_module("triton.experimental.gluon")
triton_key()
