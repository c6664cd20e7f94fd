"""Step 2 of the walk: files and spec to a Problem."""
