"""The paper's claims, and whether they hold."""
