"""First integrals with their reasons; the laws of energy and entropy."""
