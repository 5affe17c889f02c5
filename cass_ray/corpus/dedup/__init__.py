"""Exact and near duplicates, in a stream or in partitions. May import ``corpus.parsing``."""
