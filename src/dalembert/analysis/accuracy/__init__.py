"""How accurate a method is: convergence, exact discrete Lagrangians, modified energies."""
