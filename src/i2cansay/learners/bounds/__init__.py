"""The floor and the limit: a layer trained on the stream, and a regression on everything at once."""
