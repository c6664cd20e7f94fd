"""XeForge core: what a kernel, a trial and a proof are."""

__version__ = "0.1.0"
