"""OpenCL C to machine code of both vendors."""
