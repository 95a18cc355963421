"""Running the service: addresses, the log, the end."""

from __future__ import annotations

import ipaddress
import logging
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from threadpoolctl import threadpool_limits

from i2cansay.service.app import create_app
from i2cansay.service.guard import Door
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
    """

    host: str = "127.0.0.1"
    port: int = 8000
    certificate: Path | None = None
    key: Path | None = None
    need_token: bool = False
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()

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

    def door(self) -> Door:
        """Return who may come in."""
        if not self.loopback:
            return Door(needs_token=True, hosts=frozenset(), origins=frozenset(self.origins))
        hosts = Door.hosts | {self.host} | set(self.hosts)
        return Door(needs_token=self.need_token, hosts=hosts, origins=frozenset(self.origins))


def check_address(service: Service, address: Address) -> None:
    """Refuse to listen where others could come in without a token."""
    if address.door().needs_token and not service.tokens.all():
        raise ValueError(
            f"{address.host} needs a token and there is none yet: make one with "
            f"`i2cansay token add {service.folder} NAME --scope admin`"
        )


def run(service: Service, address: Address) -> None:
    """Serve until SIGTERM or SIGINT; requests that are in are answered first."""
    check_address(service, address)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("python_multipart").setLevel(logging.ERROR)  # it warns of every odd byte a client sends
    with threadpool_limits(1, user_api="blas"):  # requests run side by side; each on one core
        make_server(service, address).run()


def make_server(service: Service, address: Address) -> uvicorn.Server:
    """Return a server that is ready to run."""
    config = uvicorn.Config(
        create_app(service, address.door()),
        host=address.host,
        port=address.port,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.key,
        access_log=False,  # paths hold names of models; the metrics count requests
        server_header=False,
        log_level="warning",
        timeout_graceful_shutdown=DRAIN_SECONDS,
        timeout_keep_alive=30,
        backlog=512,
        limit_concurrency=1024,
        lifespan="on",
    )
    return uvicorn.Server(config)
