"""Equations of motion, energies, momenta and maps of states."""
