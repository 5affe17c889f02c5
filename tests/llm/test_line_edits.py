import random

import pytest

from cass_ray.llm.line_edits import MARKS, EditError, apply_edits, edits_of, mark, regions


def test_edits_name_changed_inserted_and_removed_lines():
    old = ["a", "b", "c", "d"]
    new = ["a", "B", "d", "e"]

    edits = edits_of(old, new, regions(old, new))

    assert apply_edits(old, edits) == new
    assert set(edits) <= {1, 2, 3}


def test_a_line_that_is_replaced_by_three():
    old, new = ["x", "include", "y"], ["x", "include", "one", "two", "y"]

    edits = edits_of(old, new, regions(old, new))

    assert edits == {2: ["one", "two", "y"]}


def test_what_is_appended_belongs_to_the_last_line():
    assert edits_of(["a"], ["a", "b"], regions(["a"], ["a", "b"])) == {0: ["a", "b"]}


def test_edits_lead_from_any_text_to_any_other():
    chance = random.Random(7)
    for _ in range(500):
        old = [chance.choice("abcde") for _ in range(chance.randrange(1, 12))]
        new = [chance.choice("abcde") for _ in range(chance.randrange(1, 12))]
        assert apply_edits(old, edits_of(old, new, regions(old, new))) == new, (old, new)


def test_an_edit_of_a_line_that_is_not_there():
    with pytest.raises(EditError, match="line 3; the program has 2"):
        apply_edits(["a", "b"], {2: ["c"]})


def test_marks_begin_again_behind_the_last():
    assert mark(MARKS) == mark(0)
