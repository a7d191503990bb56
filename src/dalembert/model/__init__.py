"""What a system is: symbols, System, constraints, heat, checks, plain data. No consequences."""
