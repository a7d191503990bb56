"""Symmetries: group actions on the coordinates, what is invariant under them, and the motion reduced by them."""
