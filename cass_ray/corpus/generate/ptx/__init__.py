"""Random CUDA files whose device code is written in inline PTX."""
