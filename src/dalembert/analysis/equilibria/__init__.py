"""Equilibria of a system, and small motions about them."""
