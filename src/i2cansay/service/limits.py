"""Limits of one request, one model and the whole service."""

from __future__ import annotations

from dataclasses import dataclass

MEGABYTE = 2**20


@dataclass(frozen=True)
class Limits:
    """Limits on everything that a client can make large.

    Attributes
    ----------
    body_bytes : int
        Of one request.
    bytes_in_flight : int
        Of the bodies of all requests in flight, and of the samples parsed from them, which are estimated before
        they are parsed. Beyond it, new requests get 429.
    images, rows : int
        Images, or rows of features, in one request.
    pixels : int
        Of one image, read from its header before it is decoded.
    width : int
        Of a row of features.
    label_length : int
    classes, models : int
        Of one model, and in the folder.
    state_bytes : int
        Of the state of one model, estimated before it grows.
    waiting : int
        Requests that wait in one queue. Beyond it, new requests get 429.
    together : int
        Requests that are scored or committed together.
    seconds : float
        How long a request may take.
    requests_per_second : float
        Of one token, in the long run; twice as many at once.
    connections : int
        Open at once. Fewer where the process may not open as many files.
    connections_per_address : int
        Of one client address, or one /64 network of IPv6. Loopback and trusted proxies are not counted.
    header_seconds : float
        From the start of a connection or request until its headers are complete.
    idle_seconds : float
        How long a connection may be silent between two requests.
    header_bytes, headers : int
        The size of the request line with all headers, and the number of headers.
    wrong_tokens_per_second : float
        Of one client address, in the long run; twenty at once.
    json_bytes : int
        Of one request in JSON. Forms carry images without base64 and may be larger.
    json_values : int
        Of one request in JSON, counted by its commas before it is parsed. Features in base64 are one value.
    request_pixels : int
        Of all images of one request, read from their headers.
    named : int
        Classes named in one answer: samples times `top`, or times the classes there are.
    download_bytes : int
        Memory for exports and backups that are made or sent. Beyond it, new ones get 429.
    pixels_in_flight : int
        Of all requests that wait for one encoder. Beyond it, large requests get 429.
    label_studio_tasks : int
        Tasks, or annotations, in one request of Label Studio.
    label_studio_bytes : int
        Of one image that is fetched from Label Studio.
    label_studio_seconds : float
        How long Label Studio may take for one answer.
    label_studio_at_once : int
        Images that are fetched at once.
    """

    body_bytes: int = 64 * MEGABYTE
    bytes_in_flight: int = 256 * MEGABYTE
    images: int = 64
    rows: int = 1000
    pixels: int = 50_000_000
    width: int = 20_000
    label_length: int = 200
    classes: int = 2000
    models: int = 64
    state_bytes: int = 256 * MEGABYTE
    waiting: int = 256
    together: int = 64
    seconds: float = 30.0
    requests_per_second: float = 50.0
    connections: int = 1024
    connections_per_address: int = 128
    header_seconds: float = 10.0
    idle_seconds: float = 30.0
    header_bytes: int = 16_384
    headers: int = 100
    wrong_tokens_per_second: float = 0.2
    json_bytes: int = 16 * MEGABYTE
    json_values: int = 250_000
    request_pixels: int = 800_000_000
    pixels_in_flight: int = 1_600_000_000
    named: int = 20_000
    download_bytes: int = 512 * MEGABYTE
    label_studio_tasks: int = 500
    label_studio_bytes: int = 20 * MEGABYTE
    label_studio_seconds: float = 10.0
    label_studio_at_once: int = 4
