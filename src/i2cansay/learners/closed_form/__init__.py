"""Methods that accumulate statistics and solve for a classifier in closed form."""
