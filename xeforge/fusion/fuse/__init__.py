"""From a program to a plan: which statements become one kernel, on which axes."""
