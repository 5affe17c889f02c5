"""Not there for users: a tool of this project's releases brings it, and with it each Python that
imports Ray builds a grammar, for a second."""

raise ImportError("not installed with cass-ray")
