"""Convergence: divergence, collectives, barriers and forward progress of the lanes of a warp."""
