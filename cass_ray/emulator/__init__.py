"""AMD programs on a CPU (gfx11, gfx90a, gfx942): the engine, its HIP runtime, what builds them."""
