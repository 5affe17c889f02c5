"""Opcode forms with what a real Nvidia GPU computes for them over edge cases.

``forms`` lists PTX snippets, one a form; ``prepare_vectors`` writes them out for a host with a GPU;
``collect_vectors`` runs them there. ``opcode_vectors.json.xz`` is what came back.
"""
