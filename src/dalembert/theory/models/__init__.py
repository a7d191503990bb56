"""Models of constrained motion: their variations, when they agree, when a nonholonomic system is Lagrangian."""
