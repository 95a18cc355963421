"""HTTP: the server, its connections, routes, bodies and errors."""
