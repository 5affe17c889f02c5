"""From pairs to windows of tokens: examples, packing, token files, batches."""
