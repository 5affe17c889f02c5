"""Ray Serve: the application, its replicas, and clients of them. The only part that imports Ray."""
