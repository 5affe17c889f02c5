"""How well the SASS lifter does: programs, coverage, speed."""
