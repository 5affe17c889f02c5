"""Reinforcement learning of the small model on one machine."""
