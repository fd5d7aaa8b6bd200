"""The table of section 5.5 of algoformer: planted orders, the cross-entropy by hand, a toy language, files."""

import random
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional

import boundsmith as bs
from boundsmith.training import load, train
from bridge.theorems.record import Verdict
from bridge.topics.looped import translation
from bridge.topics.looped.translation import TranslationExperiment
from bridge.topics.tools.trainings import Trainings
from numeric.training.translation import END, SEPARATOR, TranslatedLines
from symbolic.topics.looped import translation as theory

ID = "looped.translation"
TINY = {"width": 4, "heads": 1, "layers": 1, "T": 1, "delta_T": 1, "steps": 2, "batch": 2, "length": 12}
GERMAN, ENGLISH = ["der", "hund", "und", "die", "katze"], ["the", "dog", "and", "a", "cat"]
PAPER = {model: -place for place, model in enumerate(theory.CROSS_ENTROPIES)}  # the table falls along it


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A language in which a sentence is translated word by word, from its end."""
    source, target = (tmp_path_factory.mktemp("texts") / name for name in ("german.txt", "english.txt"))
    draw = random.Random(0)
    drawn = [[draw.randrange(5) for _ in range(draw.randint(2, 4))] for _ in range(400)]
    source.write_text("\n".join(" ".join(GERMAN[each] for each in line) for line in drawn) + "\n")
    target.write_text("\n".join(" ".join(ENGLISH[each] for each in reversed(line)) for line in drawn) + "\n")
    return {"source_text": str(source), "target_text": str(target)}


def experiment(**at: Any) -> TranslationExperiment:
    parameters = {each.name: each.default for each in theory.TRANSLATION.parameters}
    return TranslationExperiment({**parameters, **TINY, **at}, Trainings(), theory.PRINTED)


@pytest.mark.parametrize("sign", [1, -1])
def test_every_row_tells_the_order_of_the_table_from_the_opposite(
    sign: int, texts: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        translation, "cross_entropy", lambda known, plan, seed: 5 + (sign + seed / 100) * PAPER[plan.model]
    )
    record = bs.compare(ID, **texts, **TINY)
    assert [row.quantity for row in record] == ["algoformer.standard", "algoformer.looped", "looped.standard"]
    expected = Verdict.CONSISTENT if sign > 0 else Verdict.OUTSIDE
    assert {row.verdict["printed"] for row in record} == {expected}
    assert all("after 2 steps at width 4, on texts of your own" in row.remark for row in record)


def test_the_cross_entropy_is_that_of_each_pair_alone(texts: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "AT_ONCE", 7)
    known = experiment(**texts, prompts=20)
    plan = translation.plan(known.at, "looped")
    trained = known.trainings.get(plan, 1)
    assert isinstance(trained.task, TranslatedLines)
    lines = [Path(path).read_text().splitlines()[-40:-20] for path in texts.values()]
    encode, sums = trained.task.vocabulary.encode, []
    for source, target in zip(*lines, strict=True):
        before, after = encode(source), [*encode(target), END]
        sequence = torch.tensor([*before, SEPARATOR, *after], dtype=torch.int64, device="cpu")
        with torch.no_grad():
            predicted = trained.model(sequence[None, :-1])[-1, 0, len(before) :]
        sums.append((float(functional.cross_entropy(predicted, sequence[len(before) + 1 :], reduction="sum")), after))
    by_hand = sum(each for each, _ in sums) / sum(len(after) for _, after in sums)
    assert translation.cross_entropy(known, plan, 1) == pytest.approx(by_hand, rel=1e-5)


def test_a_model_learns_the_rule_of_a_language(texts: dict[str, str], tmp_path: Path) -> None:
    sizes = {"width": 24, "heads": 4, "layers": 2, "length": 12, "words": 50, "rate": 5e-3}
    trained = train("translation", **texts, **sizes, steps=200, batch=32, folder=tmp_path / "run")
    errors = trained.errors(100)
    assert sum(errors) / len(errors) < 0.3  # without the source at least (2/3) log 5 = 1.07
    assert load(tmp_path / "run", **texts).errors(100) == errors
    with pytest.raises(bs.UsageError, match="of another training: source_text"):
        load(tmp_path / "run", **{**texts, "source_text": texts["target_text"]})
    with pytest.raises(bs.UsageError, match=r"train: the task translation has no text 'text'\. Nearest: "):
        load(tmp_path / "run", text="")


def test_rows_read_stored_trainings_and_name_the_command_of_others(texts: dict[str, str], tmp_path: Path) -> None:
    for seed in range(3):
        for model in ("standard", "looped"):
            plan = translation.plan(experiment(**texts).at, model)
            settings = dict(plan.settings)
            train(plan.task, model=model, seed=seed, folder=tmp_path / f"{model}-{seed}", **settings)
    here, stored = (bs.compare(ID, trained=each, **texts, **TINY) for each in ("", str(tmp_path)))
    rows = list(stored)
    assert rows[2].values == list(here)[2].values
    assert {row.verdict["printed"] for row in rows[:2]} == {Verdict.OUTSIDE}
    assert "no finished training of algoformer on translation" in rows[0].remark
    assert f"--set source_text={texts['source_text']}" in rows[0].remark


def test_without_texts_every_row_is_outside() -> None:
    record = bs.compare(ID)
    assert {row.verdict["printed"] for row in record} == {Verdict.OUTSIDE}
    give = "there is no source_text and no target_text; give --set source_text=FILE --set target_text=FILE, in UTF-8"
    assert all(give in row.remark for row in record)


def test_files_that_are_refused(texts: dict[str, str], tmp_path: Path) -> None:
    latin, short, empty = (tmp_path / name for name in ("latin", "short", "empty"))
    latin.write_bytes("voilà\n".encode("latin-1") * 400)
    short.write_text("the dog\n")
    empty.write_text("")
    for target, message in (
        (latin, "looped.translation: target_text: '.*latin' is not a UTF-8 text file"),
        (short, "train: source_text has 400 lines and target_text has 1; give two texts"),
        (empty, "train: source_text has 400 lines and target_text has 0; give two texts"),
        (tmp_path / "none", "looped.translation: target_text: there is no file"),
    ):
        with pytest.raises(bs.UsageError, match=message):
            bs.compare(ID, **{**TINY, **texts, "target_text": str(target)})
    with pytest.raises(bs.UsageError, match="train: the task translation is made of a text; give its path as target_t"):
        train("translation", source_text=texts["source_text"])
