"""A request between HTTP and the replicas: who asks, the pipeline, kept answers, engine clients.

Imports engines, check and the library; never ``serve.http`` and never Ray.
"""
