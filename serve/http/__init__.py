"""FastAPI: routes, middleware, access, metrics. Knows nothing of Ray."""
