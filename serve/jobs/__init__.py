"""Jobs over whole archives, kept in folders. Imports engines and the library."""
