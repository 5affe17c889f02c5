"""Are two outputs the same? Tokens, tolerances, and what may differ from run to run."""
