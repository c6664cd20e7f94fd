"""Reading kernels without running them."""
