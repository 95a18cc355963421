"""Samples kept from the past, and who stays."""
