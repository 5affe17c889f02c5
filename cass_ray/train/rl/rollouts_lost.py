"""What is raised where answers were drawn and are gone."""


class RolloutsLost(RuntimeError):
    """Whoever made rollouts is gone, and they with it."""
