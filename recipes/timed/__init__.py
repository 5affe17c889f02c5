"""A whole run in a given time on a machine with GPUs and nothing else."""
