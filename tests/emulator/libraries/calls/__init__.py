"""Many calls of CUDA's libraries, each with the values that NumPy or SciPy gives for it."""
