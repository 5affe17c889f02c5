"""Analyses of SASS before it is lowered: live registers, waits, frames."""
