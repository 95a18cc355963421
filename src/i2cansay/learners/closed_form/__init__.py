"""Methods that keep statistics and solve."""
