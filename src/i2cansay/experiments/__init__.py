"""Declared runs and what is made of them."""
