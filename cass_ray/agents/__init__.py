"""cass-ray in the hands of agents: tools and resources over the Model Context Protocol."""
