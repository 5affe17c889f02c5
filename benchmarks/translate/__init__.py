"""Measurements of the translator on code that it was not written for."""
