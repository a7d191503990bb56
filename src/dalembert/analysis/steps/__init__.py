"""Whether a step exists and is determined."""
