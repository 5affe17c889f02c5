"""Measurements of CASS-Bench itself: how it scales over nodes."""
