"""Stateful Ray workers: state and one call into the library."""
