"""Who may send which request, how often and how large."""
