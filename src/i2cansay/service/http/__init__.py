"""The service's HTTP: routes, bodies, errors, the server."""
