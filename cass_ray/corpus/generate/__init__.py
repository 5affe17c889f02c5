"""A grammar-based generator of correct CUDA programs that know their own output."""
