"""What goes wrong with local clusters."""


class ClusterError(RuntimeError):
    """The cluster cannot be started, found or used; the message says what to do."""
