"""What a numerical method solves exactly: modified equations and exact discrete Lagrangians."""
