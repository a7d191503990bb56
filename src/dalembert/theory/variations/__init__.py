"""Calculus of variations: functionals and their extremals."""
