"""Which quantities should be conserved along a motion, and how accurately they were."""

from .audit_report import audit

__all__ = ["audit"]
