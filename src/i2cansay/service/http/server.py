"""The server: where it listens, how it logs, how it stops."""

from __future__ import annotations

import ipaddress
import logging
import socket
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from threadpoolctl import threadpool_limits

from i2cansay.service.access.middleware import AccessPolicy
from i2cansay.service.http.app import create_app
from i2cansay.service.http.connections import Connections, Network
from i2cansay.service.http.descriptors import room_for_connections
from i2cansay.service.http.listener import Listener, bind
from i2cansay.service.http.protocol import HttpProtocol
from i2cansay.service.http.rare_log import RareLog
from i2cansay.service.label_studio.connection import LabelStudio
from i2cansay.service.service import Service

DRAIN_SECONDS = 30


@dataclass(frozen=True)
class Address:
    """Where the service listens, and for whom.

    Attributes
    ----------
    host, port
    certificate, key : Path or None
        For HTTPS.
    need_token : bool
        Ask for a token on loopback as well.
    hosts, origins : tuple of str
        Further names by which it may be called on loopback, and sites whose pages may call it.
    proxies : tuple of str
        Addresses, or networks as 10.0.0.0/8, of trusted proxies: only theirs are the headers X-Forwarded-For and
        X-Forwarded-Proto that count.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    certificate: Path | None = None
    key: Path | None = None
    need_token: bool = False
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()

    @property
    def networks(self) -> tuple[Network, ...]:
        """The proxies as networks.

        Examples
        --------
        >>> Address(proxies=("10.0.0.7",)).networks
        (IPv4Network('10.0.0.7/32'),)
        """
        try:
            return tuple(ipaddress.ip_network(proxy) for proxy in self.proxies)
        except ValueError as error:
            raise ValueError(
                f"a trusted proxy is an address or a network, as 10.0.0.7 or 10.0.0.0/8: {error}"
            ) from error

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it.

        Examples
        --------
        >>> Address("127.0.0.1").loopback, Address("0.0.0.0").loopback, Address("localhost").loopback
        (True, False, True)
        """
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def policy(self) -> AccessPolicy:
        """Return who may use the service."""
        if not self.loopback:
            return AccessPolicy(needs_token=True, hosts=frozenset(), origins=frozenset(self.origins))
        hosts = AccessPolicy.hosts | {self.host} | set(self.hosts)
        return AccessPolicy(needs_token=self.need_token, hosts=hosts, origins=frozenset(self.origins))


def check_address(service: Service, address: Address) -> None:
    """Raise ValueError where others could come in without a token, or a trusted proxy is not an address."""
    _ = address.networks
    if address.policy().needs_token and not service.tokens.all():
        raise ValueError(
            f"{address.host} needs a token and there is none yet: make one with "
            f"`i2cansay token add {service.folder} NAME --scope admin`"
        )


def run(service: Service, address: Address, label_studio: LabelStudio | None = None) -> None:
    """Serve until SIGTERM or SIGINT, then answer the requests that have come in."""
    check_address(service, address)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("python_multipart").setLevel(logging.ERROR)  # it warns of every odd byte a client sends
    for handler in logging.getLogger().handlers:
        handler.addFilter(RareLog())
    with threadpool_limits(1, user_api="blas"):  # requests run side by side; each on one core
        make_server(service, address, label_studio).run()


def make_server(
    service: Service, address: Address, label_studio: LabelStudio | None = None
) -> uvicorn.Server:
    """Return a server that is ready to run."""
    limits = service.limits
    config = uvicorn.Config(
        create_app(service, address.policy(), label_studio),
        host=address.host,
        port=address.port,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.key,
        # Not left to what is installed: `HttpProtocol` extends the one for h11, which limits headers as
        # they come in, and asyncio's own loop needs no compiled package. docs/service.md says what both cost.
        http="h11",
        loop="asyncio",
        ws="none",
        h11_max_incomplete_event_size=limits.header_bytes,
        proxy_headers=bool(address.proxies),
        forwarded_allow_ips=list(address.proxies),
        access_log=False,  # paths hold names of models; the metrics count requests
        log_config=None,  # uvicorn's lines go where the others go
        server_header=False,
        log_level="warning",
        timeout_graceful_shutdown=DRAIN_SECONDS,
        timeout_keep_alive=round(limits.idle_seconds),
        lifespan="on",
    )
    return Server(config, service, address)


class Server(uvicorn.Server):
    """uvicorn with our own listener, which accepts no more connections than there is room for."""

    def __init__(self, config: uvicorn.Config, service: Service, address: Address) -> None:
        super().__init__(config)
        self._address = address
        self._limits = service.limits
        self._metrics = service.metrics
        self._connections = Connections(
            room_for_connections(service.limits), service.limits, address.networks
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then let uvicorn start the application."""
        listening = bind(self._address.host, self._address.port)  # first: from now on clients can wait
        await super().startup(sockets=[])
        self.servers = [
            Listener(  # type: ignore[misc]
                each,
                self._connections,
                self._metrics,
                self._protocol,
                context=self.config.ssl,
                seconds=self._limits.header_seconds,
            )
            for each in listening
        ]

    def _protocol(self, address: str) -> HttpProtocol:
        return HttpProtocol(
            connections=self._connections,
            metrics=self._metrics,
            address=address,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
