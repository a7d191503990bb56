"""What should be kept along a motion, what was kept, and how well."""

from .audit_report import audit

__all__ = ["audit"]
