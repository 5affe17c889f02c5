"""Scores as tables, plots, pages and a leaderboard. May import ``bench.scoring``."""
