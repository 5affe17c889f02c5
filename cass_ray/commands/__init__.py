"""Thin typer applications for what the library does; `pyproject.toml` registers them."""
