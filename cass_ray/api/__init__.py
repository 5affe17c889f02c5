"""The HTTP API as types, and its client. May import ``llm`` and the root modules."""
