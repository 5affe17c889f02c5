"""Measurements of whole projects' ports."""
