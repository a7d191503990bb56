"""What a motion conserves, and why; the laws of energy and entropy."""
