"""What follows from the data of a system in continuous time, no numbers given."""
