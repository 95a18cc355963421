from pathlib import Path

from i2cansay.datasets.contents import file_digest


def test_digest_follows_the_content_not_the_name(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"same")
    (tmp_path / "b").write_bytes(b"same")
    (tmp_path / "c").write_bytes(b"diff")
    assert file_digest(tmp_path / "a") == file_digest(tmp_path / "b")
    assert file_digest(tmp_path / "a") != file_digest(tmp_path / "c")


def test_large_file_is_told_apart_by_size_begin_and_end(tmp_path: Path) -> None:
    content = bytes(3 << 20)
    variants = [content, content + b"\0", b"\1" + content[1:], content[:-1] + b"\1"]
    digests = set()
    for variant in variants:
        (tmp_path / "file").write_bytes(variant)
        digests.add(file_digest(tmp_path / "file", whole=1024))
    assert len(digests) == len(variants)
