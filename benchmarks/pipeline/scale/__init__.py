"""Builds of millions of rows, with the compilers' work recorded once and played back."""
