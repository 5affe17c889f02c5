"""Is a translation right? Compile, run, compare, and say so. Imports the library and settings."""
