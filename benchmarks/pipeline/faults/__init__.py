"""Builds on local clusters to which things happen."""
