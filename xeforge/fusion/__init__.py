"""The polyhedral fusion compiler: from a captured graph to fused kernels."""
