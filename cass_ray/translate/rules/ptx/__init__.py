"""Inline PTX to C++."""
