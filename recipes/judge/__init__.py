"""Judging many answers, also on a machine without compilers."""
