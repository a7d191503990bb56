"""Other descriptions of the same motion: structure, Hamiltonian form, other coordinates, other Lagrangians."""
