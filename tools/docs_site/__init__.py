"""The site: the Markdown pages of the repository, a gallery of examples that run, and a reference of the library."""
