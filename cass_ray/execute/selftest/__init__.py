"""Does the verifier verify? Planted faults, and how many of them are caught."""
