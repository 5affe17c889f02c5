"""Small models trained from fresh weights."""
