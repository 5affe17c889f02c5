"""Programs that run in a process of their own, by path: nothing here imports the package."""
