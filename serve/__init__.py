"""The service: a Ray Serve application that translates, compiles, runs and compares.

Imports go one way: ``deployments`` (which alone imports Ray) → ``http`` → ``request`` → ``jobs``,
``check`` → ``engines`` → ``errors``, ``settings``; ``generation`` and ``ui`` import none of them
but ``settings``.
"""
