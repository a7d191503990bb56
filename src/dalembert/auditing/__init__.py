"""What should be kept along a motion, what was kept, and how well."""

from .table import audit

__all__ = ["audit"]
