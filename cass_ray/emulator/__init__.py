"""AMD programs on a CPU (RDNA 3 and 4, CDNA 2 and 3): the engine, its HIP runtime, their build."""
