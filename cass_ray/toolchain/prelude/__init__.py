"""What many units of a project begin with, parsed once."""
