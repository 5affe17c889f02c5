"""The analysis of data sets: time and memory."""
