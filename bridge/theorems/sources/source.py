"""What a theorem says of real inputs: parameters that suit them, prompts made of them, predictions beside others."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from bridge.limits.arguments import Function, arguments_of, called_with
from bridge.limits.cost import Work
from bridge.limits.run import ONE_INPUT, Run
from bridge.theorems.real_inputs import Material
from bridge.theorems.record import Row
from symbolic.statements.result import Result
from symbolic.words.errors import UsageError

NETWORK, EXACT = "network", "exact"  # the predictions whose distance is a row of its own
OF_SOURCE = (
    "data",
    "params",
    "given",
    "seed",
    "dtype",
    "device",
    "network",
    "reference",
    "letters",
)  # what all else may take


@dataclass(frozen=True)
class Predicted:
    """A prediction with a flag and a remark of its row."""

    value: Any
    flag: str = ""
    remark: str = ""


@dataclass(frozen=True)
class Prediction:
    """What one program predicts: an array or a `Predicted`, in the scaled units of the source; None: nothing here.

    `function` is one at a prompt (`InputSource`), and `meaning` says in words what it gives. `far` is the remark where
    the query is outside the hypotheses.
    """

    name: str
    meaning: str
    function: Function
    far: str = ""


@dataclass(frozen=True, kw_only=True)
class InputSource(ABC):
    """Real inputs as a theorem reads them.

    Parameters: `defaults` suit these inputs where none are given. `suggested`, a function, gives further ones; it takes
    parameters, `given` (those of the user) and `data`, what was read, and is left out where that does not fit.
    `implied` gives those that the data determine, from all others, `given`, `data`, `dtype` and `seed`; it raises
    UsageError for parameters that do not fit. `work` counts what all runs of a point take, from parameters.

    The theorem: `instead` gives, from the theorem, the one by which such inputs are read, and `outside` is the
    hypothesis that no such input meets, in words with {source}: no bound then covers it. `float64`: no other format
    is read, on the cpu. `covers_rounding`: the bounds cover the rounding of a run. Nothing is then run on balls, whose
    work grows with the rows, and letters of the prompt are those of float64, enlarged.

    At a prompt: `require` raises UsageError for one that does not meet a hypothesis beyond the domains of inputs.
    `predictions` are those of the network and of other programs; the engine sets them beside the truth, and those named
    `network` and `exact` beside each other. `tables` stand under the rows. These functions take by name parameters,
    weights, inputs, what the theorem builds, and what `built` builds of all this, each once; `params` (all parameters),
    `given`, `data`, `seed`, `dtype` and `device`; `network` and `reference`, mappings from a quantity to what they make
    of it, in float64; and `letters`, those of the prompt as balls.
    """

    reads: ClassVar[type]
    called: ClassVar[str]  # in the plural
    makes_prompts: ClassVar[bool] = True
    batched: ClassVar[bool] = False  # whether functions take all prompts at once
    reads_inputs: ClassVar[bool] = True  # False: only a theorem without inputs has such a source

    defaults: Mapping[str, Any] = field(default_factory=dict)
    suggested: Function | None = None
    implied: Function | None = None
    require: Function | None = None
    instead: Callable[[Any], Any] | None = None
    outside: str = ""
    built: Mapping[str, Function] = field(default_factory=dict)
    predictions: Sequence[Prediction] = ()
    tables: Sequence[Function] = ()  # each gives a NamedTable, or None
    work: Callable[..., Work] | None = None
    float64: bool = False
    covers_rounding: bool = False

    @abstractmethod
    def sizes(self, material: Any) -> dict[str, int]:
        """Parameters that say how much there is."""

    @property
    @abstractmethod
    def needs(self) -> tuple[str, ...]:
        """The parameters that reading takes."""

    @abstractmethod
    def require_fit(self, id: str, params: Mapping[str, Any], material: Any) -> None:
        """Raises UsageError for a material that does not fit the parameters."""

    @abstractmethod
    def read(self, id: str, params: Mapping[str, Any], material: Any) -> Any:
        """The `data`, of a material that fits. Raises UsageError for one that is not as it should be."""

    @abstractmethod
    def inputs(self, call: Callable[..., Any], data: Any, count: int, seed: int) -> Mapping[str, Any]:
        """`count` prompts at most, (count, ...) each; `call` calls a function with what it takes."""

    @abstractmethod
    def most(self, samples: int) -> int:
        """How many prompts there are, of so many that are asked for."""

    @abstractmethod
    def compared(self, data: Any, found: Sequence[tuple[Prediction, Predicted]], about: "AboutRows") -> Iterable[Row]:
        """The predictions beside the truth."""

    def functions(self) -> Iterable[tuple[str, Function]]:
        """Those that are called at a prompt, with their roles."""
        yield from (("what is required", each) for each in [self.require] if each is not None)
        yield from ((f"what builds {name}", each) for name, each in self.built.items())
        yield from ((f"the prediction {each.name}", each.function) for each in self.predictions)
        yield from (("a table", each) for each in self.tables)

    def suiting(self, result: Result, given: Mapping[str, Any], material: Material) -> dict[str, Any]:
        """Parameters that suit the material, for those that are not given."""
        known = {p.name: p.default for p in result.parameters} | {**self.defaults, **self.sizes(material), **given}
        found = {**self.defaults, **self.sizes(material)}
        if self.suggested is None:
            return found
        more: dict[str, Any] = {"given": given}
        if "data" in arguments_of(self.suggested):
            try:
                at = known | numbers(result, known, self.needs)
                self.require_fit(result.id, at, material)
                more["data"] = self.read(result.id, at, material)
            except UsageError:
                return found  # said once the parameters of each point are known
        return {**found, **called_with(self.suggested, {**known, **more})}

    def completed(self, known: Mapping[str, Any], given: Mapping[str, Any], data: Any, run: Run) -> Mapping[str, Any]:
        """The parameters that the data imply."""
        of_data = {"given": given, "data": data, "dtype": run.format.name, "seed": run.seed}
        return {} if self.implied is None else called_with(self.implied, {**known, **of_data})

    def require_run(self, id: str, dtype: str, device: str) -> None:
        """Raises UsageError for another format than it is read in."""
        if self.float64 and (dtype, device) != ("float64", "cpu"):
            raise UsageError(f"{id}: {self.called} are read in float64 on the cpu; leave out dtype and device")

    def require_affordable(self, id: str, params: Mapping[str, Any], material: Material) -> None:
        """Raises UsageError for a point that takes too much; warns of one that takes more than a minute."""
        if self.work is not None:
            sizes = {name: params[name] for name in arguments_of(self.work)}
            call = f"compare {id} at {material.source}, {', '.join(f'{name} = {x}' for name, x in sizes.items())}"
            found = self.work(**sizes).cost(ONE_INPUT)
            found.require(call, "lower them")
            found.announce(call)


def numbers(result: Result, params: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The parameters of these names, those with a symbol as numbers. Raises UsageError for a grid, say."""
    symbols = {p.name for p in result.parameters if p.symbol is not None}
    return {name: result.number(name, params[name]) if name in symbols else params[name] for name in names}


@dataclass(frozen=True)
class AboutRows:
    """What the rows of predictions have in common."""

    params: Mapping[str, Any]
    run: Run

    def row(self, name: str, value: float | None, meaning: str, **about: Any) -> Row:
        return Row(
            quantity=f"prediction.{name}", kind="exact", params=dict(self.params), measured=value, meaning=meaning,
            seed=self.run.seed, **about,
        )  # fmt: skip


def flagged(flags: Iterable[str]) -> dict[str, list[str]]:
    """Of what is measured; those that are not empty."""
    found = [each for each in flags if each]
    return {"measured": found} if found else {}


def joined(remarks: Iterable[str]) -> str:
    return "; ".join(filter(None, remarks))
