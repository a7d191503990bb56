"""Numerical analysis of systems, steps and motions."""
