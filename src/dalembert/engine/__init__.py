"""Step maps to machine code. No mechanics."""
