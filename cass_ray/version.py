"""The version of cass-ray: in reports, SARIF, model cards, the HTTP API and cache keys."""

__version__ = "0.1.0"
