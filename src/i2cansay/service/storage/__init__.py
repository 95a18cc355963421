"""A model's file: durable, and checked."""
