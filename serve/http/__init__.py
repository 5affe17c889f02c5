"""FastAPI: the application, its routes and middleware. Imports ``serve.request``; never Ray."""
