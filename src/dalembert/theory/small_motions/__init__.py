"""Linearised equations about equilibria and steady motions."""
