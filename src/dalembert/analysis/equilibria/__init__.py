"""Where a system can rest, and how it moves near there."""
