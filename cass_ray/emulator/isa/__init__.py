"""Instruction sets as data: one folder for each family of encodings."""
