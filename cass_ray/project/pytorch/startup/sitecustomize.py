"""Loaded by every interpreter of a port's build and tests; acts when PyTorch is imported."""

from __future__ import annotations

import importlib

importlib.import_module("cass_torch_device").wait_for_torch()
