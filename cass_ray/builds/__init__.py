"""How a project compiles its files: its own build, run with compilers that write down commands."""
