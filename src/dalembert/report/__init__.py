"""Reports: everything about a system or a run in one file of HTML."""
