"""Speed and quality of what makes and screens programs: generator, near duplicates, synthesis."""
