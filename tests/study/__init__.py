"""Studies on real processes: what is computed, what is kept, and what survives."""
