"""Assembly as text: SASS, RDNA3 and x86-64; parsing, normal forms, opcode classes, alignment."""
