"""Programs of The Stack v2: metadata from its data set, contents from Software Heritage."""
