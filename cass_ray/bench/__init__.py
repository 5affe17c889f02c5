"""CASS-Bench: tasks with ground truth from a real GPU, systems, and their scores."""
