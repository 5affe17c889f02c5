"""The functions that ``import cass_ray`` offers, a module each; may import all of the library."""
