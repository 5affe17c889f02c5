"""Text of one language model for many requests."""
