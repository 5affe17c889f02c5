"""Where programs come from, by name: ``local``, ``repository``, ``shipped``, ``stack-v2`` ..."""
