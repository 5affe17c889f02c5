"""Measurements on a machine that has many processors and nothing else."""
