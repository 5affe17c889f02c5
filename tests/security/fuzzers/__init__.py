"""Coverage-guided fuzzers of every reader of files that anybody may have made.

``python -m tests.security.fuzzers`` runs them (``--help``); what they found interesting is kept in
``corpus/``, a folder a target, and replayed by the tests. Readers in Python run under atheris
(``pip install atheris``), those in C++ under libFuzzer with the address and undefined-behaviour
sanitizers (Debian: ``libclang-rt-19-dev``).
"""
