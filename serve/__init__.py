"""Ray Serve application."""
