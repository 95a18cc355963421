"""Methods that keep samples and train on them again."""
