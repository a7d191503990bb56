"""decide: zero, sign, rank, independence, decided by value and free of units."""
