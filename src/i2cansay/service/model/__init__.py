"""A model that learns and predicts at the same time."""
