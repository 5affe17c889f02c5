"""Random CUDA files that small models are trained on: inline PTX, and drills of one construct."""
