"""How many Nvidia executables `cass port` runs, and how well."""
