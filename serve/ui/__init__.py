"""The page: its static files, its editor's sources, and the programs it offers to try."""
