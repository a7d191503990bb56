"""Decisions by value, free of units: zero, sign, rank, independence, scale."""
