"""Committed parts at any fsspec URL, written by many processes. Imports only root modules."""
