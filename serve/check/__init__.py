"""Is a translation right? Compile, run, compare, and say so."""
