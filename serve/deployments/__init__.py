"""Ray Serve: the application, its replicas, and handles to them."""
