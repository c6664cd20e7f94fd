"""Steps 4 and 10 of the walk: decide what comes next, and issue the proof."""
