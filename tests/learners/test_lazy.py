from i2cansay.learners.lazy import Cached


def test_made_once_until_cleared() -> None:
    made: list[int] = []
    cached: Cached[int] = Cached()

    def make() -> int:
        made.append(1)
        return len(made)

    assert [cached.get(make), cached.get(make)] == [1, 1]
    cached.clear()
    assert cached.get(make) == 2
