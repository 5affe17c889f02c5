"""Where programs come from: sources, include closures, filters, duplicates."""
