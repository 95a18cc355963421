"""Label Studio as a client: what it sends is read here, and what is fetched from it is fetched here."""
