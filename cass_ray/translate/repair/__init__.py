"""Repair from compiler diagnostics."""
