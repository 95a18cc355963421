"""A model that is taught and asked at the same time."""
