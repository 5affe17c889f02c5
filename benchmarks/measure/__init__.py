"""Instruments: CPU time of process trees, memory over time, the machine's description."""
