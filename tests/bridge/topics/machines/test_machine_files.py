"""The shipped machines against Python's own numbers and words, the two notations, and every error of a file."""

import re
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.topics.machines import machine_files
from bridge.topics.machines.machine_files import in_file, parse_machine, read_machine, shipped, tokens_of, written
from numeric.topics.machines.machine import MachineError, Trace, TuringMachine, simulate, simulate_many
from symbolic.words.errors import UsageError

read = cache(read_machine)


def runs(name: str, words: list[str], steps: int) -> list[Trace]:
    return simulate_many(read(name), [tokens_of(read(name), word) for word in words], steps)


def value(trace: Trace) -> int:
    return int("".join(trace.tape()), 2)


# The shipped ones.


def test_these_are_shipped_and_none_other() -> None:
    assert shipped() == ("addition", "busy_beaver_3", "busy_beaver_4", "increment", "palindrome")


def test_increment_adds_one() -> None:
    words = [f"{x:b}" for x in range(300)] + ["", "0011", "0000"]
    for word, trace in zip(words, runs("increment", words, 40), strict=True):
        assert trace.accepted, word
        assert value(trace) == int(word or "0", 2) + 1


def test_palindromes_are_told_from_the_rest() -> None:
    words = [f"{x:0{n}b}" for n in range(1, 9) for x in range(2**n)] + [""]
    answers = [trace.accepted for trace in runs("palindrome", words, 60)]
    assert answers == [word == word[::-1] for word in words]
    assert True in answers
    assert False in answers


def test_addition_adds_in_the_digits_that_the_input_had() -> None:
    words = [f"{a}{x:b}+{b}{y:b}" for x in range(18) for y in range(18) for a, b in (("", ""), ("0", "000"))]
    for word, trace in zip(words, runs("addition", words, 400), strict=True):
        x, y = word.split("+")
        assert trace.accepted, word
        assert (value(trace), len(trace.tape())) == (int(x, 2) + int(y, 2), len(word))


@pytest.mark.parametrize(("name", "steps", "ones"), [("busy_beaver_3", 21, 5), ("busy_beaver_4", 107, 13)])
def test_busy_beavers_halt_when_they_should(name: str, steps: int, ones: int) -> None:
    trace = simulate(read(name), (), steps + 10)
    assert (trace.halted_at, trace.tape().count("1")) == (steps, ones)
    assert simulate(read(name), (), steps - 1).halted_at is None


@pytest.mark.parametrize(("name", "longest"), [("increment", 5), ("palindrome", 6), ("addition", 4)])
def test_no_input_at_all_drives_a_one_way_head_off_the_tape(name: str, longest: int) -> None:
    words = ["".join(word) for n in range(longest + 1) for word in product(read(name).alphabet, repeat=n)]
    assert None not in {trace.accepted for trace in runs(name, words, 90)}


# The notations.

HEAD = "start: a\naccept: yes\nreject: no\n"


def rules(table: str, head: str = HEAD) -> TuringMachine:
    return parse_machine(head + table, "test", "test.tm")


def test_an_exact_rule_counts_before_a_wildcard() -> None:
    tm = rules("* * * * no\na * x R *\n* 1 * L yes\na 0 1 R yes\nb 2 * N a\n")
    assert set(tm.alphabet) == {"x", "1", "0", "2", "_"}
    assert tm.rule("a", "0") == ("yes", "1", 1)
    assert tm.rule("a", "1") == ("a", "x", 1)  # the state counts before the symbol
    assert tm.rule("b", "1") == ("yes", "1", -1)
    assert tm.rule("b", "0") == ("no", "0", 0)
    assert tm.rule("b", "2") == ("a", "2", 0)


def test_comments_directives_and_small_letters() -> None:
    tm = rules(
        "# a line\na 0 1 r yes # said\na 1 1 l yes ; said\n\n  a   #   _ s  no\na _ _ * no\n", HEAD + "blank: _\n"
    )
    assert tm.rule("a", "#") == ("no", "_", 0)
    assert tm.rule("a", "0") == ("yes", "1", 1)
    assert tm.lines["a", "1"] == 7
    assert not tm.two_way
    assert rules("a * * L a", HEAD + "two-way: yes\n").two_way


def test_what_is_missing_is_rejected_only_where_the_file_says_so() -> None:
    tm = rules("a 0 1 R a", HEAD + "missing: reject\n")
    assert tm.rule("a", "_") == ("no", "_", 0)
    for head in (HEAD, HEAD + "missing: error\n"):
        with pytest.raises(UsageError, match="state 'a' has no rule for the symbols '1', '_'"):
            rules("a 0 1 R a", head)


def test_busy_beavers_in_one_word() -> None:
    tm = read_machine("1RB---_1LA0RZ")
    assert (tm.states, tm.alphabet, tm.blank, tm.two_way) == (("A", "B", "Z", "halt"), ("0", "1"), "0", True)
    assert tm.accept == {"Z", "halt"}
    assert (tm.rule("A", "1"), tm.rule("B", "0")) == (("halt", "1", 0), ("A", "1", -1))
    assert parse_machine("; told\n1RB2LA1RZ_1LB1LA0RB\n", "x").alphabet == ("0", "1", "2")


def test_files_are_read_and_named_by_their_stem(tmp_path: Path) -> None:
    path = tmp_path / "mine.tm"
    path.write_text("\ufeff" + HEAD + "a * * R yes\n", "utf-8")
    assert read_machine(str(path)).name == "mine"


def test_symbols_of_several_letters_make_an_input_of_words() -> None:
    tm = rules("a one two R yes\na * * R yes\n")
    assert tokens_of(tm, " one  two ") == ("one", "two")
    for text in ("0110", "0 1 1 0", " 0110 "):
        assert tokens_of(read("palindrome"), text) == ("0", "1", "1", "0")
    assert tokens_of(read("palindrome"), "  ") == ()
    with pytest.raises(UsageError, match="input symbol 2, '11', is not in the alphabet 0 1 _"):
        tokens_of(read("palindrome"), "0 11 0")
    assert (written(("one", "two")), written(("0", "1")), written(())) == ("one two", "01", "")


def test_an_input_outside_the_alphabet_is_told_from_the_line_that_says_what_it_is() -> None:
    with pytest.raises(UsageError, match=r"^palindrome:7: input symbol 2, 'x', is not .*; the input was '0x'$"):
        tokens_of(read("palindrome"), "0x")
    unlisted = rules("a * * R yes\n", HEAD + "missing: reject\n")  # without `alphabet:`; the first rule is in line 5
    with pytest.raises(
        UsageError,
        match=r"^own.tm:5: input symbol 1, '2', is not in the alphabet _; a line 'alphabet: ...' adds .*'2'$",
    ):
        tokens_of(unlisted, "2", "own.tm")
    with pytest.raises(UsageError, match=r"^1RZ1RZ:1: input symbol 1, 'x', is not in the alphabet 0 1; "):
        tokens_of(read_machine("1RZ1RZ"), "x")


# Errors.

FULL = "a * * R yes\n"
WRONG = {
    "fields": ("a 0 1 R\n" + FULL, r"^test.tm:4: a rule has five fields .* not 4$"),
    "move": (" a 0 1  X yes\n" + FULL, r"^test.tm:4:9: move 'X' is not one of L, R, N, S, \*$"),
    "repeated": ("a 0 1 R a\na 0 0 R a\n" + FULL, r"^test.tm:5: state 'a' on symbol '0' has a rule in line 4 already$"),
    "undefined state": (
        FULL + "a 0 1 R went\n",
        r"^test.tm:5: state 'went' is not defined; .* 'accept: yes went' or 'reject: no went'",
    ),
    "missing": ("a 0 1 R yes\na _ _ R yes\n", r"^test.tm:4: state 'a' .* symbol '1'; write one, or 'missing: reject'$"),
    "alphabet": ("alphabet: 0 _\n" + FULL + "a 2 0 R yes\n", r"^test.tm:6: symbol '2' is not in the alphabet$"),
    "blank": ("alphabet: 0 1\nblank: x\n" + FULL, r"^test.tm:5: the blank 'x' is not in the alphabet$"),
    "terminal": (FULL + "yes 0 0 R a\n", r"^test.tm:5: the terminal state 'yes' has a rule$"),
    "directive": ("tapes: 2\n" + FULL, r"^test.tm:4:1: unknown directive 'tapes'; there are start, accept,"),
    "twice": ("start: a\n" + FULL, r"^test.tm:4:1: 'start' was given in line 1 already$"),
    "two words": ("blank: _ x\n" + FULL, r"^test.tm:4: 'blank' takes one word, not 2$"),
    "no word": ("alphabet:\n" + FULL, r"^test.tm:4: 'alphabet' takes one word or more, not 0$"),
    "two-way": ("two-way: perhaps\n" + FULL, r"^test.tm:4: 'two-way' is yes or no, not 'perhaps'$"),
    "missing what": ("missing: accept\n" + FULL, r"^test.tm:4: 'missing' is reject or error, not 'accept'$"),
}


def refusal(table: str, head: str = HEAD) -> str:
    with pytest.raises(UsageError) as refused:
        rules(table, head)
    return str(refused.value)


@pytest.mark.parametrize("name", WRONG)
def test_errors_name_file_line_and_column(name: str) -> None:
    table, said = WRONG[name]
    assert re.search(said, refusal(table))


def test_errors_of_a_whole_file() -> None:
    short, another, stars = "start: a\naccept: yes\n", "start: b\naccept: yes\n", "* * * R yes\n"
    assert re.search(r"no start state; add .*\ntest.tm: no terminal state; add", refusal(FULL, ""))
    assert "'missing: reject' needs a line 'reject: STATE'" in refusal(FULL, short + "missing: reject\n")
    assert re.search(r"test.tm:1: start state 'b' is not a state; no rule begins with it$", refusal(FULL, another))
    assert re.search(r"test.tm:1: start state 'a' is .* begins with it; '\*' .* defines none$", refusal(stars))
    missing = refusal("a 0 1 R yes\na _ _ R yes\n", short)
    assert missing.endswith("symbol '1'; write one, or 'missing: reject' and 'reject: STATE'")
    assert re.search(r"(?s)move '2' is not one .*and 12 more$", refusal("a 0 1 2 3\n" * 20))


TWO = "a 0 1 R went\na 0 0 R gone\n" + FULL + "yes 0 0 R a\n"  # a rule twice, states undefined, one terminal


@pytest.mark.parametrize(
    "unreadable", ["tapes: 2\n", "b 0 1 X b\n", "b 0 1 R\n", "b 0 1 R b b b\n"], ids=["directive", "move", "4", "7"]
)
def test_mistakes_of_writing_hide_no_others(unreadable: str) -> None:
    head = HEAD.replace("start: a", "start: begin")
    alone, beside = refusal(TWO, head), refusal(TWO + unreadable, head)
    words = "'begin' is not a state", "'went' is not", "'gone' is not", "a rule in line 4", "terminal state 'yes'"
    assert all(said in alone and said in beside for said in words)
    assert len(beside.split("\n")) == len(alone.split("\n")) + 1


@pytest.mark.parametrize(
    ("head", "table"),
    [
        (HEAD, "a 0 1 R b\na * * R yes\nb 0 1 X yes\n"),  # b's rule
        (HEAD, "a 0 1 R yes\na _ _ R\n"),  # a's rule
        ("strat: a\naccept: yes\n", FULL),
        ("start: a\nacept: yes\n", FULL),
        ("start: a\naccept yes\n", FULL),
        ("start: a b\naccept: yes\n", FULL),
        ("start: a\naccept: no\naccept: yes\n", FULL),
        (HEAD + "blank: x y\nalphabet: 0 x\n", FULL),
        (HEAD + "missing: maybe\n", "a 0 1 R yes\n"),
    ],
    ids=["state", "rule", "start", "accept", "colon", "two starts", "twice", "blank", "missing"],
)
def test_what_a_line_may_have_said_that_was_not_understood_is_not_called_missing(head: str, table: str) -> None:
    assert "\n" not in refusal(table, head)


def test_many_mistakes_of_one_kind_cut_off_no_other_kind() -> None:
    states = "".join(f"a{k} 0 1 R a{k + 1}\n" for k in range(20))  # each without rules for 1 and the blank
    more = "a20 * * R went\na20 7 1 R yes\nyes 0 0 R a0\n"
    lines = refusal(states + more, HEAD + "alphabet: 0 1 _\n").split("\n")
    first = next(line for line in lines if "has no rule" in line)
    assert first.startswith("test.tm:5: state 'a0' has no rule for the symbols '1', '_'; write one")
    for said in ("'a' is not a state", "'went' is not defined", "'7' is not in the", "'yes' has a rule"):
        assert any(said in line for line in lines)
    assert (len(lines), lines[-1]) == (9, "and 16 more")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("1RB1LB_1LA", "machine:1:8: row B is '1LA', not 2 triples as row A"),
        ("1RB1XB_1LA1RZ", "machine:1:4: '1XB' is neither a digit, L or R, and a letter"),
        ("1RB2LB_1LA1RZ", "machine:1: symbol '2' is not in the alphabet"),
        ("_".join(["1RB1LA"] * 27), "27 states, but there are 26 letters"),
    ],
    ids=["short row", "move", "symbol", "letters"],
)
def test_errors_of_busy_beavers(word: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_machine(word)


def test_names_that_are_none_are_refused_with_those_that_are(tmp_path: Path) -> None:
    for name in ("incremnt", "no/such.tm", "nul\0.tm", "x" * 5000):
        with pytest.raises(
            UsageError, match=r"there is no machine and no file .*; shipped are addition, busy_beaver_3"
        ):
            read_machine(name)
    with pytest.raises(UsageError, match="is a folder"):
        read_machine(str(tmp_path))
    (tmp_path / "bytes.tm").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not a UTF-8 text file"):
        read_machine(str(tmp_path / "bytes.tm"))


def test_what_the_advice_says_makes_a_machine() -> None:
    line = re.search("'(accept: .*?)'", refusal("a * * R went\n"))[1]
    assert rules("a * * R went\n", HEAD.replace("accept: yes", line)).terminal == {"yes", "went", "no"}
    words = re.findall("'([a-z]+: .*?)'", refusal("a 0 1 R yes\n", "start: a\naccept: yes\n"))[:2]
    assert rules("a 0 1 R yes\n", "\n".join(["start: a", "accept: yes", *words, ""])).reject == {"STATE"}


def test_a_rule_that_was_filled_in_stands_where_the_file_says_so() -> None:
    filled = rules("a 0 1 R yes\n", HEAD + "missing: reject\n")
    assert (filled.lines["a", "0"], filled.lines["a", "_"]) == (5, 4)


def test_a_run_that_fails_is_named_with_file_and_line() -> None:
    tm = rules("a * * L a\n")
    with pytest.raises(MachineError) as error:
        simulate(tm, (), 3)
    said = str(in_file(error.value, "test.tm"))
    assert said.startswith("test.tm:4: the head leaves the tape on the left in step 1")
    assert str(in_file(error.value, "test.tm", " on '0'")) == f"{said} on '0'"


LINES = st.sampled_from([*HEAD.split("\n"), "a 0 1 R a", "a * * L yes", "* 1 * * b", "missing: reject", "1RB1LZ", "x"])


@pytest.mark.long
@given(
    st.one_of(st.text(max_size=80), st.lists(LINES, max_size=8).map("\n".join), st.from_regex(r"[0-2ABLRZ_-]{3,20}"))
)
@settings(max_examples=400)
def test_any_text_is_a_machine_or_refused(text: str) -> None:
    try:
        tm = machine_files.parse_machine(text, "any")
    except UsageError:
        return
    assert set(tm.transitions) == {(s, a) for s in tm.states if s not in tm.terminal for a in tm.alphabet}
