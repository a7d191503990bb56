"""Mechanics in discrete time: discrete systems, finite-difference maps, equations, momenta, flow."""
