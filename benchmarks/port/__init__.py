"""How many Nvidia executables `cass run-binary` runs, and how well."""
