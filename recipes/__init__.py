"""Runs that trained the published small models, with the commands of each."""
