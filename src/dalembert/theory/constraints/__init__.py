"""What kind of constraints a system has, and what they imply."""
