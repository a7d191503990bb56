"""Enclosures with proof: intervals, isolation of solutions, searches of a whole space. No mechanics."""
