"""Plans as Triton source: one readable file in the kernel contract."""
