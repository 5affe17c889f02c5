"""Verified means executed: run both sides of a pair on the same inputs and compare what they do."""
