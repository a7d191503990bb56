"""Symbolic consequences of the data of a system in continuous time."""
