import numpy as np

from i2cansay.core.state_parts import add_prefix, strip_prefix


def test_a_part_comes_back_out_of_the_whole_under_its_own_names() -> None:
    rows, weights = np.arange(3), np.ones(2)
    whole = {"weights": weights, **add_prefix("memory", {"rows": rows, "part.rows": weights})}
    assert list(whole) == ["weights", "memory.rows", "memory.part.rows"]
    inside = strip_prefix(whole, "memory")
    assert list(inside) == ["rows", "part.rows"]
    assert inside["rows"] is rows


def test_only_a_whole_name_is_a_part() -> None:
    assert (
        strip_prefix(
            {"memory": np.ones(1), "memory2.rows": np.ones(1), "a.memory.rows": np.ones(1)}, "memory"
        )
        == {}
    )
