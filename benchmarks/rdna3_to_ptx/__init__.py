"""RDNA3 to PTX: how many programs, and whether they compute the same."""
