"""Attacks on what the project promises: each is held, or its test fails (``make attack``)."""
