"""Reactions, driving forces and virtual work."""
