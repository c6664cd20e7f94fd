"""Steps 7 and 9 of the walk: gate and judge. Pure; no device."""
