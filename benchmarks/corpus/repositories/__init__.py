"""Pairs that known repositories give, chosen by a rule (benchmarks/corpus/repositories.md)."""
