"""Headers that projects take for granted: found by name, fetched, kept in folders by content."""
