"""CUDA to host assembly, cubins, PTX and SASS, by the steps of nvcc."""
