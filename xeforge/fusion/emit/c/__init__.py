"""C with OpenMP from a plan, for CPUs; start with `xeforge.fusion.emit.c.source.emit`."""
