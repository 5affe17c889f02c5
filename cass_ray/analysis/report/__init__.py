"""A report on disk: one page, the figures as images, every number as JSON."""
