"""Translators from CUDA to HIP: the protocol, the ``rules`` engine, HIPIFY, and how to get one."""
