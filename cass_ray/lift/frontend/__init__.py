"""From files to decoded SASS: cubins, containers, listings, instructions, operands."""
