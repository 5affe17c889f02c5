"""Ports that only look right, each by a trick of its own."""
