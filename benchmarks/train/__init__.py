"""Training on GPUs: throughput against the plain loop, packing against padding, scaling."""
