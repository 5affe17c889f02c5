"""Continuous batching of one language model on a GPU."""
