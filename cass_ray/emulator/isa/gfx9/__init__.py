"""gfx9 (CDNA 2 and 3): formats and names."""
