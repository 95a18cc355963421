"""Who may send a request, from where and how much; and the headers of every answer."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import re
import time
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from i2cansay.service.access.body_limit import IncomingBody, Traffic
from i2cansay.service.access.client_address import client_network
from i2cansay.service.access.permissions import RoutePermissions
from i2cansay.service.access.rate import RateLimit
from i2cansay.service.access.tokens import Token, Tokens, secret_in
from i2cansay.service.errors import ServiceError, error_content, stopping
from i2cansay.service.limits import Limits
from i2cansay.service.service_metrics import ServiceMetrics

log = logging.getLogger("i2cansay.service")
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}
RAW_HEADERS = tuple((name.encode(), value.encode()) for name, value in HEADERS.items())
"""As they are sent: `setdefault` of each would search and encode for every answer."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
WRONG_TOKENS_AT_ONCE = 20
LABEL_STUDIO = re.compile(r"/v1/models/[^/]+/label-studio/[^/]+")
"""The routes for Label Studio, which can send its ML back ends a password, and no token."""


@dataclass(frozen=True)
class AccessPolicy:
    """Who may use the service.

    Attributes
    ----------
    needs_token : bool
        Can be off on loopback only.
    hosts : frozenset of str
        Host names under which the service answers; empty for any. On loopback, a page of another site could
        otherwise point its own name at this machine and use the service as its owner.
    origins : frozenset of str
        Other sites whose pages may use the service.
    """

    needs_token: bool = False
    hosts: frozenset[str] = frozenset({"localhost", "127.0.0.1", "::1"})
    origins: frozenset[str] = frozenset()


class AccessMiddleware:
    """ASGI middleware that lets a request in or refuses it, and adds headers to every answer.

    Everything is checked before the body is read: headers, host, origin, token, rate, scope, announced length.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        policy: AccessPolicy,
        permissions: RoutePermissions,
        tokens: Tokens,
        limits: Limits,
        metrics: ServiceMetrics,
    ) -> None:
        self._app = app
        self._policy = policy
        self._permissions = permissions
        self._tokens = tokens
        self._limits = limits
        self._metrics = metrics
        self._rate = RateLimit(limits.requests_per_second)
        self._wrong_tokens = RateLimit(limits.wrong_tokens_per_second, WRONG_TOKENS_AT_ONCE)
        # Half for one client, so that others come in beside it; but always enough for one body and its samples.
        self._traffic = Traffic(
            limits.bytes_in_flight, max(limits.bytes_in_flight // 2, 2 * limits.body_bytes)
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0
        headers = Headers(scope=scope)
        begun = False

        async def sending(message: Message) -> None:
            nonlocal status, begun
            if message["type"] == "http.response.start":
                begun, status = True, message["status"]
                self._add_headers(message, headers)
            await send(message)

        body = IncomingBody(receive, self._limits, self._traffic)
        asked: Scope = {
            **scope,
            "state": {**scope.get("state", {}), "who": "", "scope": "", "body": body},
        }
        if scope["method"] == "HEAD":  # every GET route answers HEAD; the server leaves the body out
            asked["method"] = "GET"
        try:
            self._check_headers(headers)
            self._check_access(asked, headers)
            body.client = asked["state"]["who"] or _client(scope)
            body.expect(headers)
            await self._app(asked, body.receive, sending)
        except ServiceError as error:
            await _refuse(error, sending)
        except ClientDisconnect:
            status = 499  # the client went away before it had sent everything
        except asyncio.CancelledError:  # the server stops, and has waited long enough
            if not begun:
                await _refuse(stopping(), sending)
            raise
        except Exception as error:
            reference = _reference(error)
            log.exception(f"unforeseen error {reference} at %s", _route(asked))
            if not begun:
                sentence = f"something went wrong in the service; its log says more under {reference}"
                await _refuse(ServiceError(500, "internal", sentence), sending)
        finally:
            body.finish()
            taken = time.perf_counter() - started
            method = scope["method"] if scope["method"] in METHODS else "other"
            self._metrics.answered(method, _route(asked), status, taken)

    # -- coming in ------------------------------------------------------------------------------------------

    def _check_headers(self, headers: Headers) -> None:
        limits = self._limits
        n_bytes = sum(len(name) + len(value) + 4 for name, value in headers.raw)
        if len(headers.raw) > limits.headers or n_bytes > limits.header_bytes:
            sentence = (
                f"a request may have {limits.headers} headers of {limits.header_bytes} bytes together, "
                f"this one has {len(headers.raw)} of {n_bytes}"
            )
            raise ServiceError(431, "headers_too_large", sentence)

    def _check_access(self, scope: Scope, headers: Headers) -> None:
        host = _host(headers.get("host", ""))
        if self._policy.hosts and host not in self._policy.hosts:
            raise ServiceError(421, "wrong_host", f"this service is not called {host[:100]!r}")
        origin = headers.get("origin")
        if origin is not None and not self._is_allowed(origin, headers):
            raise ServiceError(403, "wrong_origin", "pages of other sites may not use this service")
        if not self._policy.needs_token:
            return
        if scope["method"] == "OPTIONS" and origin in self._policy.origins:
            return  # a browser asks before it sends the token
        needed = self._permissions.needed(scope)
        if needed is None:
            return
        token = self._token(scope, headers)
        if (wait := self._rate.wait_for(token.name)) > 0:
            raise ServiceError(429, "too_often", "this token asks too often; slow down", retry_after=wait)
        if not token.allows(needed):
            raise ServiceError(
                403, "not_allowed", f"this needs a token of scope {needed}, yours is {token.scope}"
            )
        scope["state"].update(who=token.name, scope=token.scope)

    def _token(self, scope: Scope, headers: Headers) -> Token:
        """Return the token of a request. Wrong tokens are limited by address, right ones are not."""
        secret = secret_in(
            headers.get("authorization", ""), basic=bool(LABEL_STUDIO.fullmatch(scope["path"]))
        )
        if (token := self._tokens.find(secret)) is not None:
            return token
        if secret:
            client = _client(scope)
            self._metrics.happened("wrong_tokens")
            log.warning("a wrong token from %s", client)
            if (wait := self._wrong_tokens.wait_for(client)) > 0:
                self._metrics.happened("wrong_tokens_refused")
                sentence = "too many wrong tokens from this address; check the token before you try again"
                raise ServiceError(429, "too_many_wrong_tokens", sentence, retry_after=wait)
        raise ServiceError(401, "no_token", "expected a valid token: Authorization: Bearer TOKEN")

    def _is_allowed(self, origin: str, headers: Headers) -> bool:
        return origin in self._policy.origins or origin.partition("://")[2] == headers.get("host", "")

    # -- going out ------------------------------------------------------------------------------------------

    def _add_headers(self, message: Message, asked: Headers) -> None:
        given = message["headers"]
        names = {name for name, _ in given}  # a route may have its own
        message["headers"] = [*given, *(line for line in RAW_HEADERS if line[0] not in names)]
        origin = asked.get("origin")
        if origin in self._policy.origins:
            answer = MutableHeaders(scope=message)
            answer["access-control-allow-origin"] = origin
            answer["access-control-allow-headers"] = (
                "authorization, content-type, idempotency-key, if-none-match"
            )
            answer["access-control-allow-methods"] = "GET, POST, DELETE"
            answer.add_vary_header("origin")


async def _refuse(error: ServiceError, send: Send) -> None:
    content, headers = error_content(error)
    body = json.dumps(content).encode()
    lines = {"content-type": "application/json", "content-length": str(len(body)), **headers}
    raw = [(name.encode(), value.encode()) for name, value in lines.items()]
    await send({"type": "http.response.start", "status": error.status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


def _reference(error: Exception) -> str:
    """Return a short name of an error: the same whenever the same kind of error comes from the same line."""
    places = [type(error).__name__]
    trace = error.__traceback__
    while trace is not None:
        places.append(f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}")
        trace = trace.tb_next
    return hashlib.sha256(" ".join(places).encode()).hexdigest()[:8]


def _client(scope: Scope) -> str:
    return client_network(scope["client"][0] if scope.get("client") else "")


def _host(value: str) -> str:
    if value.startswith("["):
        return value[1:].partition("]")[0]
    return value.partition(":")[0]


def _route(scope: Scope) -> str:
    """Return the path's pattern, not the path: metrics must not name models, nor grow with them."""
    route = scope.get("route")
    return str(getattr(route, "path", "other"))
