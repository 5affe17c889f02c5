"""Tools that have started already: each job is a fork of a process that waits at main."""
