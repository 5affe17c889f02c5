"""Find the vendors' tools and run them: source to assembly to executable."""
