"""Client addresses: what counts as one client where clients are limited."""

from __future__ import annotations

import ipaddress
from functools import lru_cache


@lru_cache(maxsize=4096)
def client_network(address: str) -> str:
    """Return the address itself, or for IPv6 the /64 network, which is what one customer gets.

    Examples
    --------
    >>> client_network("192.0.2.7"), client_network("2001:db8::1")
    ('192.0.2.7', '2001:db8::/64')
    >>> client_network("::ffff:192.0.2.7"), client_network("unknown")
    ('192.0.2.7', 'unknown')
    """
    try:
        host = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if isinstance(host, ipaddress.IPv4Address):
        return str(host)
    if host.ipv4_mapped is not None:
        return str(host.ipv4_mapped)
    return str(ipaddress.ip_network((int(host), 64), strict=False))
