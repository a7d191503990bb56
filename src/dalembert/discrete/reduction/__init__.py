"""Discrete systems with symmetry: bundles, affine discrete connections, reduced equations, reconstruction."""
