"""Engines as the service runs them: one call, one answer, whatever stands behind it.

Imports the library only.
"""
