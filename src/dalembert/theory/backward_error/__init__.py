"""Backward error analysis: modified equations and exact discrete Lagrangians."""
