"""The step map: the only interface between integrators and the engine."""
