"""From trees, archives and git revisions to programs, each with all files that it includes."""
