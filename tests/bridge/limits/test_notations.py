"""Reading a notation: numbers of lines and columns against a plain count, what is shown of many complaints."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundsmith as bs
from bridge.limits.notations import Complaints, numbered_lines, placed_words, split_outside_brackets
from symbolic.words.errors import UsageError

TEXT = st.text("ab #\\\t", max_size=12)


@given(st.lists(TEXT, max_size=8))
def test_lines_have_the_numbers_of_the_text(lines: list[str]) -> None:
    found = dict(numbered_lines(lines, comment="#"))
    for number, line in enumerate(lines, start=1):
        content = line.partition("#")[0].rstrip()
        assert found.get(number, "") == content
        for column, word in placed_words(content):
            assert line[column - 1 :].startswith(word)
        assert [word for _, word in placed_words(content)] == content.split()


def test_a_notation_may_have_no_comments() -> None:
    assert list(numbered_lines(["a # b", "", "c"], comment="")) == [(1, "a # b"), (3, "c")]


def test_a_line_goes_on_and_has_the_number_of_its_first_part() -> None:
    lines = ["", "a \\", " b \\  # more", "c", "d", "e \\"]
    found = [(number, line.split()) for number, line in numbered_lines(lines, comment="#", continued="\\")]
    assert found == [(2, ["a", "b", "c"]), (5, ["d"]), (6, ["e"])]


def test_all_complaints_are_raised_at_once_in_the_order_of_the_text() -> None:
    complaints = Complaints("own.txt")
    complaints.add(9, "late")
    complaints.add_unread(2, "strange", 7, lost=["x"])
    complaints.add(0, "nothing is declared")
    complaints.add(9, "late")  # once is enough
    assert str(complaints.error()) == "own.txt: nothing is declared\nown.txt:2:7: strange\nown.txt:9: late"
    assert isinstance(complaints.error(), UsageError)
    assert (complaints.unread, complaints.lost) == (True, {"", "x"})


@pytest.mark.parametrize(("most", "shown"), [(1, 2), (2, 2), (5, 5), (None, 11)])
def test_of_many_complaints_each_kind_is_shown(most: int | None, shown: int) -> None:
    complaints = Complaints("own.txt", most)
    for line in range(1, 11):
        complaints.add(line, "again", kind="often")
    complaints.add(50, "once", kind="rare")
    lines = str(complaints.error()).split("\n")
    assert {"own.txt:1: again", "own.txt:50: once"} <= set(lines)
    assert lines[shown:] == ([f"and {11 - shown} more"] if shown < 11 else [])


def test_a_text_parameter_refuses_with_every_complaint() -> None:
    def read(numbers: str) -> list[float]:
        complaints, found = Complaints("numbers"), []
        for number, line in numbered_lines(numbers.split("\n"), comment="#"):
            for column, word in placed_words(line):
                try:
                    found.append(float(word))
                except ValueError:
                    complaints.add(number, f"'{word}' is not a number", column)
        if complaints.found:
            raise complaints.error()
        return found

    text = bs.Text("numbers", read, "NUMBERS")
    assert text.read("1 2 # two\n3") == [1, 2, 3]
    with pytest.raises(UsageError, match=r"^numbers:1:3: 'x' is not a number\nnumbers:2:1: 'y' is not a number$"):
        text.read("1 x\ny")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("1,2,4", ["1", "2", "4"]),
        ("8", ["8"]),
        ("[[1,0],[0,1]],0.5", ["[[1,0],[0,1]]", "0.5"]),
        ("f(1,2),{3,4}", ["f(1,2)", "{3,4}"]),
        ("1,,2", ["1", "", "2"]),
    ],
)
def test_commas_in_brackets_split_nothing(text: str, parts: list[str]) -> None:
    assert list(split_outside_brackets(text)) == parts
