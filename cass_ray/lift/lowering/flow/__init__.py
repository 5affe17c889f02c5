"""Control flow: a kernel from its entry along every path, block by block, with its calls."""
