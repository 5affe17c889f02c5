"""Reference outputs from a real GPU, and measurements of the verifier."""
