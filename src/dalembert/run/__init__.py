"""From a start to arrays: simulate, evaluate, events, trajectories, files."""
