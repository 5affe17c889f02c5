"""What building a data set costs, beside the paper's way and a plain loop."""
