"""The file of a model: durable, and checked when it is read."""
