"""Which rows and columns a table shows, verdicts in words, and the violations."""

import pytest

from bridge.export.choice import Choice
from bridge.export.layout import digits_of, group_ends, layout, number_words, shown_rows
from bridge.export.legend import legend
from bridge.export.notes import budget_words, no_verdict_words
from bridge.export.sheet import Sheet, sheet
from bridge.export.tables import comparison_csv
from bridge.export.verdict_words import verdict_words
from bridge.export.violations import reasons, violations
from bridge.questions.compare import compare
from bridge.theorems.numbers import DIGITS, plain, value_words
from bridge.theorems.record import TIERS, Flag, Record, Row, RowErratum, Verdict, Witness
from symbolic.statements.catalogue import find_result
from tests.bridge.export.cases import comparison


def _row(**fields: object) -> Row:
    return Row(**({"quantity": "output", "kind": "upper", "quantifier": "for all inputs", "params": {}} | fields))


def test_columns_are_the_parameters_that_vary_and_the_numbers_there_are() -> None:
    columns = layout(comparison().rows)
    assert columns.varying == ("p", "L")
    assert columns.constant == {"d": 4, "W_star": 0.25}
    assert columns.numbers[:5] == ("printed", "derived", "instance", "measured", "attacked")
    assert columns.labels == ("scope",)
    lonely = layout([_row(measured=1.0)])
    assert (lonely.varying, lonely.numbers, lonely.labels) == ((), ("measured",), ())
    assert layout([]).numbers == ()


def test_final_and_violated_rows_are_shown_grouped() -> None:
    record = comparison()
    names = [row.quantity for row in shown_rows(record)]
    assert set(names) == {"output", "output.mask_3", "output.rate"}
    assert names == sorted(names, key=["output", "output.mask_3", "output.rate"].index)
    assert len(shown_rows(record, all_rows=True)) == len(record.rows)
    record.rows[0].verdict["printed"] = Verdict.VIOLATED
    assert record.rows[0].quantity == "y"
    assert "y" in {row.quantity for row in shown_rows(record)}


def test_without_a_final_quantity_all_rows_are_shown() -> None:
    record = comparison()
    record.rows = [row for row in record.rows if row.quantity == "y"]
    assert len(shown_rows(record)) == len(record.rows) == 16


@pytest.mark.parametrize(
    ("verdict", "flags", "words"),
    [
        ({}, {}, "-"),
        ({"printed": "kept", "derived": "kept"}, {}, "kept"),
        ({"printed": "violated", "derived": "kept"}, {}, "printed: violated; derived: kept"),
        (
            {"printed": "violated", "derived": "kept", "instance": "kept"},
            {"derived": [Flag.VACUOUS]},
            "printed: violated; derived, instance: kept (vacuous: derived)",
        ),
        (
            {"printed": "undecided", "derived": "undecided"},
            {"printed": [Flag.ROUNDING], "derived": [Flag.ROUNDING]},
            "undecided (rounding dominates)",
        ),
        ({"printed": "kept"}, {"measured": [Flag.ROUNDING]}, "kept (rounding dominates)"),
        (
            {"derived": "proved"},
            {"derived": [Flag.VACUOUS, Flag.CONDITIONAL]},
            "proved (vacuous, conditional)",
        ),
    ],
)
def test_verdict_in_words(verdict: dict[str, str], flags: dict[str, list[str]], words: str) -> None:
    assert verdict_words(_row(verdict=verdict, flags=flags)) == words


@pytest.mark.parametrize("verdict", list(Verdict))
def test_no_verdict_is_collapsed_into_another(verdict: Verdict) -> None:
    assert verdict_words(_row(verdict={"printed": verdict, "derived": verdict})) == verdict.value


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (4, "4"),
        (0.25, "0.25"),
        (8.0, "8"),
        (1e300, "1e+300"),
        (85.16278055448186, "85.16"),
        (1.5625000000000006e-08, "1.563e-08"),
        (0.1 + 0.2, "0.3"),
        (None, "-"),
        ([[1, 0], [0, 1]], "2 x 2 matrix"),
        ("random:1", "random:1"),
        ("x" * 50, "x" * 29 + "..."),
    ],
)
def test_parameter_values_in_words(value: object, words: str) -> None:
    assert value_words(value) == words


def _all(record: Record) -> Sheet:
    return sheet(record, Choice(all_rows=True))


def words_of(rows: list[Row]) -> dict[str, list[str]]:
    shown = _all(comparison().model_copy(update={"rows": rows}))
    return {column.name: shown.cells(column) for column in shown.columns if column.name in ("quantity", "where")}


def test_columns_say_which_construction_a_row_is_of() -> None:
    rows = [_row(construction="L -> oo", measured=1.0), _row(construction="L = 8", measured=2.0)]
    assert words_of(rows) == {"quantity": ["output"] * 2, "where": ["L -> oo", "L = 8"]}
    apart = [_row(construction="masked"), _row(quantity="y", construction="gated")]
    assert words_of(apart) == {"quantity": ["output", "y"]}


def test_a_place_leaves_out_what_a_row_does_not_have() -> None:
    rows = [_row(params={"p": 1, "L": 8}), _row(params={"a": 0.123456})]
    columns = layout(rows)
    assert [columns.at(row) for row in rows] == ["p = 1, L = 8", "a = 0.1235"]


def test_what_has_no_verdict_is_explained() -> None:
    assert no_verdict_words([_row(verdict={"printed": "kept"})]) == ""
    without = no_verdict_words([_row(), _row(verdict={"printed": "kept"})])
    assert without == "verdict -: a measured number that has no bound"
    assert no_verdict_words([_row(printed=1.0, derived=2.0)]) == "verdict -: stated values that no run measures"
    assert no_verdict_words([_row(), _row(derived=2.0)]).endswith("no bound or stated values that no run measures")


def test_nothing_is_said_of_inputs_where_there_are_none() -> None:
    assert budget_words([_row(measured=1.0)]) == ""
    assert budget_words([_row(measured=1.0), _row(samples=4)]).startswith(
        "seed 0; up to 4 samples, depending on the row; no attack"
    )


def test_budget() -> None:
    assert budget_words(comparison().rows) == "seed 0; 64 samples; attack: 200 steps, 4 restarts"
    assert "8 to 64 samples, depending on the row" in budget_words([_row(samples=8), _row(samples=64)])
    attacked = budget_words([_row(samples=8), _row(samples=8, attack_steps=5, restarts=2)])
    assert attacked == "seed 0; 8 samples; attack: up to 5 steps, up to 2 restarts"


def test_one_violation_a_quantity_with_the_worst_row() -> None:
    (violation,) = violations(comparison())
    assert violation.quantity == "output.mask_3"
    assert violation.tiers == ("printed",)
    assert (violation.count, violation.total) == (8, 8)
    assert violation.worst.params["p"] == 8
    assert violation.worst.params["L"] == 8
    assert violation.sentence == (
        "output.mask_3: printed violated in 8 of 8 rows. Worst: last output token against IH_2 is 0.25 at p = 8, "
        "L = 8; printed: at most 3.356e-04 (745 times that). mask (3) shows key 1 to the last query, 100% of the time "
        "& at a cost of 1/L"
    )


def test_violations_of_other_kinds() -> None:
    record = comparison()
    violated = {"printed": Verdict.VIOLATED}
    record.rows = [
        _row(
            quantity="lower",
            kind="lower",
            printed=1.0,
            measured=0.5,
            attacked=0.25,
            verdict=violated,
            params={"p": 1},
            samples=1,
        ),
        _row(quantity="rate", kind="rate", printed=1.0, measured=0.5, verdict=violated, samples=1),
        _row(quantity="zero", printed=0.0, measured=0.5, verdict=violated, samples=1),
        _row(quantity="kept", printed=1.0, measured=0.5, verdict={"printed": Verdict.KEPT}),
    ]
    assert [violation.sentence for violation in violations(record)] == [
        "lower: printed violated. Found: lower is 0.25; printed: at least 1 (4 times the value).",
        "rate: printed violated. Found: rate is 0.5; printed: 1.",
        "zero: printed violated. Found: zero is 0.5; printed: at most 0.",
    ]


def test_a_violation_compares_error_and_bound_of_one_prompt() -> None:
    record = comparison()
    at = {"result": "own", "quantity": "out", "params": {}, "inputs": {"x": [1.0]}}
    witness = Witness(**at, error_lower=2.0, bounds={"instance": 1.0})
    row = _row(quantity="out", instance=0.5, measured=1.5, verdict={"instance": Verdict.VIOLATED}, samples=1)
    record.rows = [row.model_copy(update={"witness": witness})]
    assert "out is 2; instance: at most 1 (2 times that)." in violations(record)[0].sentence


def test_a_violation_is_named_once_and_has_no_place() -> None:
    record = comparison()
    violated = {"printed": Verdict.VIOLATED}
    record.rows = [
        *record.rows[:1],
        _row(quantity="erratum.slip", printed=1.0, measured=2.0, verdict=violated, samples=1),
    ]
    assert [violation.sentence for violation in violations(record)] == [
        "slip: printed violated. Found: slip is 2; printed: at most 1 (2 times that)."
    ]


ERRATUM = RowErratum(
    weight="constant",
    place="Lemma 2, (3.9)",
    sentence="the sum has 3 terms",
    reading="all of them counted",
    repair="it has 4",
    survives="yes: no constant is claimed",
)


def test_an_erratum_is_named_with_its_weight_and_its_repair() -> None:
    record = comparison()
    verdict = {"printed": Verdict.VIOLATED, "derived": Verdict.KEPT}
    at = {"L": 7}
    row = _row(quantity="terms", params=at, printed=3.0, derived=4.0, measured=4.0, verdict=verdict, erratum=ERRATUM)
    record.rows = [row]
    (violation,) = violations(record)
    assert verdict_words(row) == "printed: violated (constant); derived: kept"
    assert violation.heading == "erratum (constant)"
    assert violation.sentence == (
        "terms: Lemma 2, (3.9). In the paper: the sum has 3 terms. Found: terms is 4; printed: at most 3 (1.333 times "
        "that). Repair: it has 4."
    )
    record.rows[0].params, record.rows[0].remark = {}, "at L = 7"
    assert "(1.333 times that). At L = 7. Repair" in violations(record)[0].sentence
    said = str(record)
    assert "erratum (constant): terms: Lemma 2" in said
    assert "boundsmith errata induction.vanilla" in said


def test_the_numbers_of_a_violation_are_named_by_the_meaning_or_in_the_words_of_the_quantity() -> None:
    record = comparison()
    numbers = {"printed": 3.0, "measured": 4.0, "verdict": {"printed": Verdict.VIOLATED}, "erratum": ERRATUM}
    record.rows = [_row(quantity="terms", meaning="number of terms, all counted", params={"L": 7}, **numbers)]
    assert "Found: number of terms, all counted, is 4; printed: at most 3 (" in violations(record)[0].sentence
    record.rows[0].finding = "it fails from {found} on; printed: up to {printed}"
    assert "Found: it fails from 4 on; printed: up to 3. Repair" in violations(record)[0].sentence
    record.rows[0].measured, record.rows[0].remark = None, "the ratio grows"
    assert "has 3 terms. The ratio grows. Repair" in violations(record)[0].sentence


def test_the_legend_names_what_is_shown() -> None:
    record = comparison()
    record.rows = [
        _row(quantity="p[1]", meaning="error of a layer", params={"leak": 0.01, "p": 1}),
        _row(quantity="y", meaning="error of y", params={"leak": 0.01, "p": 2}),
        _row(quantity="p[2]", meaning="error of a layer", params={"leak": 0.01, "p": 1}),
        _row(quantity="unnamed", params={"leak": 0.01, "p": 1}),
    ]
    leak = find_result("induction.vanilla").parameter("leak").meaning
    entries = [("p[1], p[2]", "error of a layer"), ("y", "error of y"), ("parameter leak", leak)]
    assert legend(_all(record)) == entries
    assert all(f"\n{names}: {meaning}" in str(record) for names, meaning in entries)
    record.result = "own.theorem"
    assert legend(_all(record)) == entries[:2]


def test_the_legend_explains_the_values_of_an_option_and_no_letters() -> None:
    record = comparison()
    record.result = "induction.trends"
    record.rows = [_row(params={"flow": "printed", "alpha": 1.0, "sigma_init": 0.1, "L": 8, "w_star": 0.3})]
    assert [names for names, _ in legend(_all(record))] == ["parameter flow"]
    record.result, record.rows = "icgd.step", [_row(params={"activation": "tanh", "eps": 0.1, "relus": 8})]
    assert [names for names, _ in legend(_all(record))] == ["parameter relus"]


def test_a_judged_order_without_a_number_is_no_dash() -> None:
    row = _row(order="O", verdict={"printed": Verdict.VIOLATED}, derived=80.0)
    assert number_words(row, "printed", plain) == "O(...)"
    assert number_words(_row(order="O", verdict={"derived": Verdict.KEPT}), "printed", plain) == "-"


def test_violated_alone_is_for_the_statement_and_for_bounds_of_ours() -> None:
    statement = ERRATUM.model_copy(update={"weight": "statement"})
    verdict = {"printed": Verdict.VIOLATED}
    assert verdict_words(_row(printed=3.0, verdict=verdict, erratum=statement)) == "violated"
    ours = {"printed": Verdict.VIOLATED, "derived": Verdict.VIOLATED}
    row = _row(printed=3.0, derived=3.0, measured=4.0, verdict=ours, erratum=ERRATUM)
    assert verdict_words(row) == "printed: violated (constant); derived: violated"
    record = comparison()
    record.rows = [row]
    assert violations(record)[0].heading == "violated"


def test_a_violated_bound_and_the_error_beyond_it_never_look_equal() -> None:
    verdict = {"printed": Verdict.VIOLATED}
    row = _row(printed=0.1, measured=0.1000000016, verdict=verdict)
    record = comparison()
    record.rows = [row]
    assert digits_of(row) == 9
    assert number_words(row, "printed", plain) == "0.1"
    assert number_words(row, "measured", plain) == "0.100000002"
    assert "is 0.100000002; printed: at most 0.1." in violations(record)[0].sentence
    assert digits_of(_row(printed=0.1, measured=0.2, verdict=verdict)) == DIGITS
    assert digits_of(_row(printed=0.1, verdict=verdict)) == DIGITS


def test_one_value_reads_alike_in_the_table_and_in_the_sentence() -> None:
    row = _row(printed=1.0214375, measured=1.0419707, verdict={"printed": Verdict.VIOLATED})
    record = comparison()
    record.rows = [row]
    assert number_words(row, "printed", plain) == "1.022"
    assert "is 1.042; printed: at most 1.022 " in violations(record)[0].sentence


def test_a_parameter_that_is_computed_from_the_others_is_shown_as_automatic() -> None:
    rows = [_row(params={"relus": 0, "eps": 0.0}), _row(params={"relus": 64, "eps": 0.0})]
    columns = layout(rows, ["relus"])
    assert [columns.value("relus", row.params["relus"]) for row in rows] == ["automatic", "64"]
    assert columns.at(rows[0]) == "relus = automatic"
    assert columns.constants() == "eps = 0"


def test_a_violation_counts_the_rows_that_have_its_bound() -> None:
    record = comparison()
    judged = {tier: _row(**{tier: 1.0}, measured=2.0, verdict={tier: Verdict.VIOLATED}) for tier in TIERS}
    kept = {tier: _row(**{tier: 1.0}, measured=0.5, verdict={tier: Verdict.KEPT}) for tier in TIERS}
    without = _row(verdict={"printed": Verdict.OUTSIDE, "derived": Verdict.NOT_REPRESENTABLE}, remark="why")
    below_float64 = _row(measured=2.0, verdict={"printed": Verdict.VIOLATED})

    def counts(*rows: Row) -> tuple[int, int]:
        record.rows = list(rows)
        (violation,) = violations(record)
        return violation.count, violation.total

    assert counts(judged["printed"], kept["printed"], kept["instance"], without) == (1, 2)
    assert counts(judged["printed"], judged["instance"], kept["derived"]) == (2, 2)
    assert counts(below_float64, kept["printed"]) == (1, 2)


REASON = "the paper asks for more; this has less"


def _ruled_out(quantity: str, remark: str = REASON, verdict: Verdict = Verdict.OUTSIDE, p: int = 1) -> Row:
    return _row(quantity=quantity, remark=remark, params={"p": p, "L": 8}, verdict={"printed": verdict})


def test_each_reason_is_said_once_with_its_quantities() -> None:
    record = comparison()
    own = find_result(record.result).quantity("output.gated").remark
    assert own
    record.rows = [
        _ruled_out("output"),
        _ruled_out("output.gated", f"{own}; {REASON}"),
        _ruled_out("y", "too many", Verdict.NOT_REPRESENTABLE),
        _ruled_out("output"),
        _row(quantity="y", remark="kept, whatever it says", verdict={"printed": Verdict.KEPT}),
        _ruled_out("scores", own),
        _ruled_out("scores", ""),
    ]
    assert [(reason.verdict, reason.sentence) for reason in reasons(record)] == [
        ("outside", f"{REASON} (output, output.gated)"),
        ("not representable", "too many (y)"),
    ]


def test_a_reason_says_where_it_holds_unless_everywhere_and_names_few() -> None:
    record = comparison()
    record.rows = [_ruled_out(f"q{index}") for index in range(9)] + [_ruled_out("q0", "another", p=2)]
    assert [reason.sentence for reason in reasons(record)] == [
        f"{REASON} (p = 1: q0, q1, q2, q3, q4, q5, and 3 more)",
        "another (p = 2: q0)",
    ]
    record.rows += [_ruled_out("q0", p=2)]
    assert reasons(record)[0].sentence.startswith(f"{REASON} (q0, ")


def test_a_comparison_that_rules_nothing_out_has_no_reasons() -> None:
    assert reasons(comparison()) == []


def _grid(*points: tuple[int, list[str]]) -> list[str]:
    record = comparison()
    record.rows = [_row(quantity=name, params={"N": N}) for N, names in points for name in names]
    record.rows.append(_row(quantity="erratum.slip"))
    return list(dict.fromkeys(row.quantity for row in shown_rows(record, all_rows=True)))


def test_quantities_stand_as_at_the_point_that_has_the_most() -> None:
    rich = ["p[1]", "p[2]", "p[3]", "r'[1]", "r'[2]", "w"]
    poor = ["p[1]", "r'[1]", "w"]
    assert _grid((1, poor), (3, rich)) == [*rich, "erratum.slip"]
    assert _grid((3, rich), (1, poor)) == [*rich, "erratum.slip"]


def test_a_quantity_that_the_richest_point_lacks_stands_behind_its_neighbour() -> None:
    assert _grid((1, ["p[1]", "extra", "w"]), (2, ["p[1]", "p[2]", "r", "w"])) == [
        *("p[1]", "extra", "p[2]", "r", "w"),
        "erratum.slip",
    ]


def test_space_is_left_beside_groups_of_several_rows() -> None:
    one, other = _row(quantity="y"), _row(quantity="output")
    prompt = _row(quantity="output", scope="prompt")
    assert group_ends([one, one, other, prompt]) == {1}
    assert group_ends([one, other, prompt, prompt]) == {1}
    assert group_ends([one, other, prompt]) == set()
    assert group_ends([one, one]) == group_ends([one]) == group_ends([]) == set()


@pytest.mark.long
def test_a_refuted_bound_below_float64_is_named_as_such() -> None:
    made = compare("induction.vanilla", p=(8, 800), L=8, samples=2, attack=0)
    (violation,) = violations(made)
    assert "p = 800" in violation.sentence
    assert "printed: at most a number below 1e-308" in violation.sentence


def test_a_csv_has_the_erratum_of_a_row_in_columns_of_its_own() -> None:
    record = comparison()
    record.rows = [_row(verdict={"printed": Verdict.VIOLATED}, erratum=ERRATUM), _row()]
    head, one, other = comparison_csv(record).splitlines()
    assert "erratum.weight,erratum.place,erratum.sentence" in head
    assert ",erratum," not in head
    assert "constant" in one
    assert "constant" not in other
