"""gfx11 (RDNA3) programs on a CPU: the engine, its HIP runtime, and what builds them."""
