"""The outside world, one file per thing. Only composition roots import these."""
