"""Writing tasks: lint, mutation test of their inputs, the index of their sizes."""
