"""Cluster files and the local multi-node cluster."""
