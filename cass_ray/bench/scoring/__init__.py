"""Samples to scores: shares with intervals, similarity of texts, classes of compile errors."""
