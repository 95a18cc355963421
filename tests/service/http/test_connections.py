"""Who may stay connected, for how long, and who goes first."""

from __future__ import annotations

import errno
import ipaddress
import resource

import pytest

from i2cansay.service.access.rate import RateLimit
from i2cansay.service.errors import ServiceError
from i2cansay.service.http.connections import Connections, Stage
from i2cansay.service.http.descriptors import OTHERS, PER_MODEL, room_for_connections
from i2cansay.service.limits import Limits


class Visitor:
    """A connection that remembers what happened to it."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        self.address = address
        self.end = ""

    def overdue(self, stage: Stage) -> None:
        """It has waited for too long."""
        self.end = f"overdue {stage.name}"

    def evict(self) -> None:
        """Its place is needed."""
        self.end = "evicted"


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def come(connections: Connections, address: str = "127.0.0.1", stage: Stage = Stage.HEADERS) -> Visitor:
    """Let somebody in, as far as a stage."""
    connections.check(address)
    visitor = Visitor(address)
    connections.add(visitor)
    connections.move(visitor, stage)
    return visitor


def test_the_oldest_goes_first() -> None:
    connections = Connections(3, Limits())
    visitors = [come(connections) for _ in range(5)]
    assert [visitor.end for visitor in visitors] == ["evicted", "evicted", "", "", ""]
    assert len(connections) == 3


def test_those_at_work_stay_and_the_next_is_asked_to_come_back() -> None:
    connections = Connections(3, Limits())
    working = [come(connections, stage=Stage.WORK) for _ in range(3)]
    with pytest.raises(ServiceError) as refusal:
        come(connections)
    assert (refusal.value.status, refusal.value.retry_after) == (503, 1.0)
    assert not any(visitor.end for visitor in working)
    connections.remove(working[0])
    connections.remove(working[0])  # a second time changes nothing
    come(connections)
    assert len(connections) == 3


@pytest.mark.parametrize("crowd", [Stage.HEADERS, Stage.IDLE, Stage.BODY, Stage.READER])
@pytest.mark.parametrize("stage", [Stage.HEADERS, Stage.IDLE, Stage.BODY, Stage.READER])
def test_a_crowd_cannot_push_out_one_that_has_just_come(crowd: Stage, stage: Stage) -> None:
    connections = Connections(40, Limits())
    for _ in range(40):
        come(connections, stage=crowd)
    honest = come(connections, stage=stage)
    for _ in range(9):
        come(connections, stage=crowd)
        assert honest.end == ""


def test_a_connection_has_its_time_however_much_it_drips() -> None:
    clock = Clock()
    connections = Connections(10, Limits(header_seconds=10), clock=clock)
    slow = come(connections)
    for _ in range(9):
        clock.now += 1
        connections.move(slow, Stage.HEADERS)  # another byte
        connections.sweep()
    assert slow.end == ""
    clock.now += 1
    late = come(connections)
    connections.sweep()
    assert slow.end == "overdue HEADERS"
    assert (late.end, len(connections)) == ("", 1)


def test_the_time_begins_anew_with_the_next_request() -> None:
    clock = Clock()
    connections = Connections(10, Limits(header_seconds=10, idle_seconds=30), clock=clock)
    client = come(connections)
    for stage, seconds in ((Stage.WORK, 1000), (Stage.IDLE, 29), (Stage.HEADERS, 9), (Stage.BODY, 40)):
        connections.move(client, stage)
        clock.now += seconds
        connections.sweep()
        assert client.end == ""
    connections.move(client, Stage.READER)
    clock.now += 30
    connections.sweep()
    assert client.end == "overdue READER"


def test_one_address_has_a_share() -> None:
    connections = Connections(100, Limits(connections_per_address=2), [ipaddress.ip_network("10.0.0.0/8")])
    first, _ = come(connections, "192.0.2.7"), come(connections, "192.0.2.7")
    with pytest.raises(ServiceError, match="at most 2 connections from one address") as refusal:
        come(connections, "192.0.2.7")
    assert refusal.value.status == 429
    come(connections, "192.0.2.8")
    for address in ("127.0.0.1", "::1", "10.1.2.3"):  # this machine, and the proxy
        for _ in range(5):
            come(connections, address)
    connections.remove(first)
    come(connections, "192.0.2.7")


def test_a_network_of_ipv6_is_one_address() -> None:
    connections = Connections(100, Limits(connections_per_address=2))
    come(connections, "2001:db8::1")
    come(connections, "2001:db8::2")
    with pytest.raises(ServiceError):
        come(connections, "2001:db8::3")
    come(connections, "2001:db8:0:1::1")


@pytest.mark.parametrize(
    ("soft", "hard", "room", "raised"),
    [
        (20_000, 20_000, 1024, None),
        (1024, 1_000_000, 1024, 1024 + PER_MODEL * 64 + OTHERS),
        (1024, 1024, 1024 - PER_MODEL * 64 - OTHERS, None),
        (256, 256, 64, None),
    ],
)
def test_connections_leave_descriptors_for_the_models(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, room: int, raised: int | None
) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: asked.append(limits))
    assert room_for_connections(Limits()) == room
    assert asked == ([(raised, hard)] if raised else [])


def test_where_the_limit_cannot_be_raised_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> None:
        raise OSError(errno.EPERM, "not permitted")

    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 4096))
    monkeypatch.setattr(resource, "setrlimit", forbidden)
    assert room_for_connections(Limits()) == 1024 - PER_MODEL * 64 - OTHERS


def test_buckets_are_bounded_and_the_least_recent_goes() -> None:
    limit = RateLimit(1.0, 1, names=3)
    assert limit.wait_for("first", now=0.0) == 0
    for number in range(2):
        limit.wait_for(f"other {number}", now=0.0)
    assert limit.wait_for("first", now=0.0) > 0  # still known, and now the latest
    for number in range(2, 5):
        limit.wait_for(f"other {number}", now=0.0)
    assert len(limit._buckets) == 3
    assert limit.wait_for("first", now=0.0) == 0
