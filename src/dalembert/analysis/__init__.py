"""Questions about systems, steps and motions that are answered with numbers."""
