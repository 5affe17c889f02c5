"""Thin typer applications for what the library does; the table in `cass_ray.cli` names them."""
