"""Reinforcement learning of a translator from what its own answers are worth."""
