"""The step map, which is all that integrators and machines know of each other."""
