"""Nvidia executables on AMD: lift their device code and give them a CUDA runtime over HIP.

``executable`` reads the program, ``fatbin`` its containers, ``lifting`` turns them into fat
binaries of HIP, ``shim`` builds ``libcudart.so`` from ``runtime/``, and ``running`` runs the
unmodified executable against it.
"""
