"""What is measured, against whom. Figures are in ``results/``."""
