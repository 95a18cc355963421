import threading
from pathlib import Path

from i2cansay.disk.file_lock import exclusive


def test_the_second_holder_waits_and_says_so_once(tmp_path: Path) -> None:
    order: list[str] = []
    held, said = threading.Event(), threading.Event()

    def second() -> None:
        held.wait(5)
        with exclusive(tmp_path / "lock", waiting=said.set):
            order.append("second")

    thread = threading.Thread(target=second)
    thread.start()
    with exclusive(tmp_path / "lock"):
        held.set()
        assert said.wait(5)
        order.append("first")
    thread.join(5)
    assert order == ["first", "second"]


def test_a_free_lock_does_not_wait_and_makes_its_folder(tmp_path: Path) -> None:
    waited: list[int] = []
    for _ in range(2):
        with exclusive(tmp_path / "new" / "lock", waiting=lambda: waited.append(1)):
            pass
    assert waited == []
    assert (tmp_path / "new" / "lock").is_file()


def test_an_error_inside_releases_the_lock(tmp_path: Path) -> None:
    try:
        with exclusive(tmp_path / "lock"):
            raise RuntimeError
    except RuntimeError:
        pass
    waited: list[int] = []
    with exclusive(tmp_path / "lock", waiting=lambda: waited.append(1)):
        assert waited == []
