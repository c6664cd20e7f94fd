"""Imported ahead of need: Triton hashes itself (half a gigabyte) before its first compilation."""

from triton.runtime.cache import triton_key

triton_key()
