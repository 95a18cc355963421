"""Addresses in tasks: only images of the one configured Label Studio are ever asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from i2cansay.service.errors import ServiceError
from i2cansay.service.label_studio.origin import Origin

ORIGIN = Origin.parse("http://studio.internal:8080")
BELOW = Origin.parse("https://example.org/ls/")


@pytest.mark.parametrize(
    ("reference", "path"),
    [
        ("/data/upload/1/8df6-a_b_%C3%BC.png", "/data/upload/1/8df6-a_b_%C3%BC.png"),
        ("/data/upload/1/Teil 7.png", "/data/upload/1/Teil%207.png"),
        ("/data/upload/1/Kühler.png", "/data/upload/1/K%C3%BChler.png"),
        ("http://studio.internal:8080/data/upload/1/a.png", "/data/upload/1/a.png"),
        ("HTTP://STUDIO.internal:8080/data/upload/1/a.png", "/data/upload/1/a.png"),
        ("/data/local-files/?d=parts/a.png", "/data/local-files/?d=parts/a.png"),
        ("/tasks/5/resolve/?fileuri=czM6Ly9hL2I=", "/tasks/5/resolve/?fileuri=czM6Ly9hL2I="),
        ("/tasks/5/presign/?fileuri=czM6Ly9hL2I=", "/tasks/5/presign/?fileuri=czM6Ly9hL2I="),
        ("/projects/5/resolve/?fileuri=czM6Ly9hL2I=", "/projects/5/resolve/?fileuri=czM6Ly9hL2I="),
        ("/data/upload/1/a..b.png", "/data/upload/1/a..b.png"),
        ("/data/local-files/?d=parts/a..b.png", "/data/local-files/?d=parts/a..b.png"),
    ],
)
def test_images_of_label_studio_are_found(reference: str, path: str) -> None:
    assert ORIGIN.path_of(reference) == path


@pytest.mark.parametrize(
    "reference",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://evil.example/data/upload/1/a.png",
        "//evil.example/data/upload/1/a.png",
        "///evil.example/data/upload/1/a.png",
        "/\\evil.example/data/upload/1/a.png",
        "\\\\evil.example\\data\\upload\\1\\a.png",
        "http:\\\\evil.example/data/upload/1/a.png",
        "http:/data/upload/1/a.png",
        "http://studio.internal/data/upload/1/a.png",  # another port
        "http://studio.internal:8081/data/upload/1/a.png",
        "https://studio.internal:8080/data/upload/1/a.png",  # another scheme
        "ftp://studio.internal:8080/data/upload/1/a.png",
        "file:///etc/passwd",
        "gopher://studio.internal:8080/data/upload/1/a.png",
        "data:image/png;base64,iVBORw0KGgo=",
        "s3://bucket/a.png",
        "javascript:alert(1)",
        "http://studio.internal:8080@evil.example/data/upload/1/a.png",
        "http://evil.example@studio.internal:8080/data/upload/1/a.png",
        "http://user:secret@studio.internal:8080/data/upload/1/a.png",
        "http://@studio.internal:8080/data/upload/1/a.png",
        "http://studio.internal:8080.evil.example/data/upload/1/a.png",
        "http://studio.internal:8080#@evil.example/data/upload/1/a.png",
        "http://studio.internal.evil.example:8080/data/upload/1/a.png",
        "http://studio.internal:99999/data/upload/1/a.png",
        "http://studio.internal:port/data/upload/1/a.png",
        "http://[::1]:8080/data/upload/1/a.png",
        "http://[::1/data/upload/1/a.png",
        "http://127.0.0.1:8080/data/upload/1/a.png",  # perhaps the same machine, and not the same name
        "/data/upload/../../api/current-user/token",
        "/data/upload/%2e%2e/%2e%2e/api/current-user/token",
        "/data/upload/%252e%252e/%252e%252e/api/users",
        "/data/upload/..%2f..%2fapi/users",
        "/data/upload/%5c..%5c..%5capi",
        "/data/upload/./a.png",
        "/data/local-files/?d=../secret.png",
        "/data/local-files/?d=parts/%2e%2e/secret.png",
        "/data/local-files/?d=parts%252f..%252fsecret.png",
        "/data/local-files/?d=parts%5c..%5csecret.png",
        "/data/local-files/?d=%0d%0aHost:%20evil.example",
        "/api/current-user/token",
        "/api/projects/1/export",
        "/logout",
        "/user/login/",
        "/data/other/a.png",
        "/data/upload",
        "/xdata/upload/1/a.png",
        "data/upload/1/a.png",
        "/data/upload/1/a.png#fragment",
        "/data/upload/1//a.png",
        "/data/upload/1/a.png\r\nHost: evil.example",
        "/data/upload/1/a.png\n",
        "/data/upload/1/%0d%0aHost:%20evil.example",
        "/data/upload/1/\x00.png",
        "/tasks/5/resolve/../../api/users",
        "/tasks/x/resolve/?fileuri=a",
        "/tasks/5/other/",
        "",
        " ",
        "/data/upload/" + "a" * 5000,
        None,
        7,
        ["/data/upload/1/a.png"],
        {"url": "/data/upload/1/a.png"},
    ],
)
def test_everything_else_is_refused(reference: object) -> None:
    with pytest.raises(ServiceError) as refused:
        ORIGIN.path_of(reference)
    assert (refused.value.status, refused.value.code) == (422, "wrong_origin")
    assert "evil" not in refused.value.sentence


def test_a_label_studio_below_a_path_serves_images_below_it() -> None:
    assert Origin("https", "example.org", 443, "/ls") == BELOW
    assert BELOW.path_of("/ls/data/upload/1/a.png") == "/ls/data/upload/1/a.png"
    assert BELOW.path_of("https://example.org/ls/data/upload/1/a.png") == "/ls/data/upload/1/a.png"
    for outside in ("/data/upload/1/a.png", "/ls/../data/upload/1/a.png", "/lsdata/upload/1/a.png"):
        with pytest.raises(ServiceError):
            BELOW.path_of(outside)


@pytest.mark.parametrize(
    "address",
    ["", "studio:8080", "/data", "ftp://studio", "http://", "http://a:b@studio", "http://studio?x=1", "http://studio#x",
     "http://studio:port", "http://stu dio", "http://studio\\x"],
)  # fmt: skip
def test_what_is_no_address_is_told_at_the_start(address: str) -> None:
    with pytest.raises(ValueError, match="address of"):
        Origin.parse(address)


@given(st.text(max_size=60).map(lambda text: "/data/upload/" + text) | st.text(max_size=80))
def test_a_path_is_always_one_line_below_the_places_of_images(reference: str) -> None:
    try:
        path = ORIGIN.path_of(reference)
    except ServiceError:
        return
    assert path.startswith(("/data/upload/", "/data/local-files/", "/tasks/", "/projects/"))
    assert path.isascii()
    assert path.isprintable()
    assert " " not in path
    assert "/../" not in path
