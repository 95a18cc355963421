"""Tables, plots and pages from records."""
