"""What is wrong with an answer, whatever was asked; and the folder in which the calls are made."""

import json
import os
import re
from pathlib import Path

from bridge.cli.printable import MOST_SAID, OBEYED
from tests.hostile.calls import ESCAPE, Call
from tests.hostile.server import Answer, Asked

MOST_MEBIBYTES = 2048
SEVERAL_LINES = ("machine", "circuit", "word")  # what is wrong in a file is named with its line, all at once
PRECIOUS = "% the file that was there before\n"


def make_folder(folder: Path, *, million: bool = False) -> None:
    """The files that the calls name."""
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "empty").write_bytes(b"")
    (folder / "binary").write_bytes(bytes(range(256)) * 16)
    with (folder / "huge").open("wb") as file:
        file.truncate(10 << 30)  # without taking room
    for name, content in _files().items():
        (folder / name).write_text(content, encoding="utf-8")
    if million:
        (folder / "million.csv").write_text(
            "a,b,y\n" + "".join(f"{i * 0.37 % 11:.5f},{i * 0.77 % 13:.5f},{i % 7}\n" for i in range(10**6))
        )


def _files() -> dict[str, str]:
    step = {"N": 10**9, "K": 4, "d": 2, "n": 8, "B_v": 1.0, "B_x": 1.0, "B_y": 1.0, "eta": 0.1, "eps": 0.1}
    step |= {"relus": 0, "R": 0.0, "relus_r1": 0, "activation": "tanh", "loss": "square"}  # type: ignore[dict-item]
    witness = {"result": "icgd.step", "quantity": "gradient", "params": step, "inputs": {}, "error_lower": 1.0}
    witness |= {"bounds": {"printed": 0.5}, "scope": None}
    escape = {**witness, "quantity": ESCAPE, "params": {**step, "N": 1, "activation": ESCAPE}}
    numbers = "1,2,3\n4,5,6\n7,9,8\n"
    return {
        "precious.tex": PRECIOUS,
        "deep.json": "[" * 100_000,
        "nan.json": '{"result": NaN, "x": Infinity}',
        "twice.json": '{"result": "icgd.step", "result": 1}',
        "digits.json": f'{{"format": {"9" * 100_000}}}',
        "large_witness.json": json.dumps(witness),
        "escape_witness.json": json.dumps(escape),
        "good.csv": "a,b,y\n" + numbers,
        "words.csv": "a,b,y\n" + "x,y,z\n" * 1000,
        "escape.csv": f"a{ESCAPE},b,y\n{ESCAPE},1,2\n{numbers}",
        "ragged.csv": "a,b,y\n1,2\n" + numbers,
        "constant.csv": "a,b,y\n" + "1,2,3\n" * 5,
        "nan.csv": "a,b,y\nnan,1,2\n" + numbers,
        "beyond.csv": "a,b,y\n1e200,1,2\n" + numbers,
        "wide.csv": "," * (2 << 20),
        "columns.csv": ",".join(f"c{i}" for i in range(100_000)) + ",y\n",
        "one_row.csv": "a,b,y\n1,2,3\n",
        "nul.csv": "a,b,y\n1,\x00,2\n" + numbers,
        "quote.csv": 'a,b,y\n1,"2,3\n' + numbers,
        "escape.tm": f"start: {ESCAPE}\naccept: yes\n{ESCAPE} 0 0 R yes\n",
        "loops.tm": "start: a\naccept: yes\nreject: no\na _ _ R a\na 0 0 R a\na 1 1 R a\n",
        "cycle.bench": "INPUT(a)\nOUTPUT(x)\nx = AND(y, a)\ny = NOT(x)\n",
    }


def asked_of(call: Call, folder: Path, **guard: float) -> Asked:
    return Asked(call.arguments, str(folder), call.python, call.output, call.room, call.event, **guard)


def contents(folder: Path) -> dict[str, tuple[int, float]]:
    """Every file below the folder with its size and its time."""
    found = (path for path in folder.rglob("*"))
    return {str(path.relative_to(folder)): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in found}


def complaints(call: Call, answer: Answer, before: dict[str, tuple[int, float]], folder: Path) -> list[str]:
    """What is wrong with the answer; removes the files that the call was to write."""
    said = answer.out + answer.err
    found = [] if answer.code in call.codes else [f"exit code {answer.code}, not {call.codes}"]
    found += ["it hung"] * answer.hung
    found += [f"{answer.mebibytes:.0f} MiB"] * (answer.mebibytes > MOST_MEBIBYTES)
    found += ["a traceback"] * ("Traceback" in said)
    found += ["a character that a terminal obeys"] * bool(OBEYED.search(said))
    found += [f"a message of {len(answer.err)} characters"] * (len(answer.err) > MOST_SAID + 200)
    found += [f"nothing like {call.says!r}"] * (re.search(call.says, said, re.DOTALL) is None)
    one_line = call.kind not in SEVERAL_LINES and not call.python
    lines = [line for line in answer.err.splitlines() if not line.startswith("boundsmith: warning: ")]
    found += ["a refusal of several lines"] * (answer.code == 2 and one_line and len(lines) != 1)
    return found + _changes(call, before, folder)


def _changes(call: Call, before: dict[str, tuple[int, float]], folder: Path) -> list[str]:
    after = contents(folder)
    written = [name for name in call.writes if after.pop(name, (0, 0.0))[0] > 0]
    for name in written:
        (folder / name).unlink()
    found = [f"{name} was not written" for name in call.writes if name not in written]
    found += [f"{name} was left behind" for name in after if name not in before]
    return found + [f"{name} is not as it was" for name in before if before[name] != after.get(name)]
