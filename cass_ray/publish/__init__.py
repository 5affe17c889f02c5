"""A data set, a model or benchmark results as others load them: files, card, checksums, upload."""
