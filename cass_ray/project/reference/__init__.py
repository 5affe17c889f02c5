"""What a project's own programs print as nvcc's machine code: the reference for its port.

``toolkit`` lays out a CUDA toolkit for builds of strangers' projects, ``original`` builds the
project with it, lifts what came out and runs the project's tests, ``recording`` keeps what each
program printed, ``comparing`` judges, and ``testing`` runs a port's tests beside all that.
"""
