"""More than one file: trees of sources and their build files."""
