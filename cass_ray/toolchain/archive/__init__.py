"""Debian's archive as a source of AMD's headers and libraries."""
