"""Exact and near duplicates in a stream of programs. May import ``corpus.parsing``."""
