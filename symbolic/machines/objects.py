"""What the letters of the statements of this topic mean that are not numbers (wei2021)."""

MARGIN = {
    "F": "the network, whose prediction is right where `(y - 1/2) F > 0`",
    "y": "the label, 0 or 1",
    r"\theta": "its parameters",
    r"\theta'": "other parameters of it",
    r"\rho": "all-layer margin: the infimum of the 2-norms of the changes of all parameters that make the prediction "
    "wrong",
}
APPROXIMATION = {
    **MARGIN,
    r"\ell_{0\text{-}1}": "1 where the prediction is wrong, else 0",
    r"\bar\ell_\gamma": "ramp loss, which falls from 1 at margin 0 to 0 at margin `gamma`",
}
CIRCUIT = {
    "G": "output of the circuit, 0 or 1",
    "x": "an input of `m` bits",
    "F": "output of the network that the proof constructs",
    "f_i": "its two ReLU layers that compute layer `i` of the circuit; the layer of the inputs is layer 0",
    r"\theta_i": "parameters of `f_i`",
    "r_i": "number of gates of layer `i`",
    r"\zeta_i": "correction function after layer `i`, the rounding of Proposition 3.4",
    r"\xi_i": "parameters of `zeta_i`",
}
ROUNDING = {
    "f": "the product `W_1 ... W_D x - 1/2` of `D` linear layers",
    r"\tilde f": "the same with `round` after each layer, see (3.1)",
    r"\mathrm{net}": "the ReLU network of Proposition 3.4, `net(z) = 3 max(z - 1/3, 0) - 3 max(z - 2/3, 0)`",
    r"\mathrm{round}": "`round(z)` is 0 for `z < 1/3`, `3z - 1` from there to `z = 2/3`, 1 beyond",
    "W": "the weights of the layers, one number each",
    "x": "the input",
    "y": "the label",
    "D": "the number of layers, `d` in the bounds",
    r"\rho": "all-layer margin: the smallest 2-norm of a change of the parameters that makes the prediction wrong",
    "z": "a real number",
}
CIRCUIT_MARGIN = {
    r"\rho_F": "all-layer margin of the network `F` that the proof constructs",
    "F": "the network, `F'` with one correction shared by all layers",
    "r": "width of the circuit",
    "c": "an exponent that the paper leaves open",
    r"\gamma": "`log b/log r` for the bound `b` on `rho_F` of layers of width `r` and fan-in 2 at their largest "
    "constants, as `r -> oo`",
    "b": "see `gamma`",
}
SAMPLES = {
    "P": "distribution of the inputs",
    "G": "the target",
    "F": "a parameterised network, with parameters `theta` in `R^p`",
    r"\theta": "parameters of `F`",
    r"\hat F": "the empirical risk minimiser",
    r"\ell": "a surrogate loss",
    r"\mathbb{E}": "mean over an input from `P`",
    "x": "an input",
    "y": "its label",
    r"\mathcal{N}": "covering number",
    r"{\rm Rad}_{n,P}": "Rademacher complexity of a class of losses at `n` inputs from `P`",
    r"\Theta": "the l1 ball of radius `alpha`",
    "v": "an average of `k` vertices of the l1 ball",
    "k": "number of vertices in an average",
    r"\mathcal{L}_G": "the class of losses (2.2) for the target `G`",
    "R^p": "the space of the parameters",
    "m": "number of bits of an input",
}
TURING = {
    "i": "a step of the machine",
    "h": "hidden representation at step `i` of the decoder that the proof constructs, with hard-max attention; the "
    "superscript names its coordinates",
    "z_i": "state of the machine after step `i`",
    "u_i": "symbol that it writes in step `i`",
    "q_i": "move of the head in step `i`",
    "l_i": "location of the head",
    "a_i": "symbol under the head",
    "i'": "last step before `i` at which the head was at the location `l_i`, 0 if there is none",
    "x": "input of the machine",
    "o_i": "output of the decoder at step `i`",
    r"\hat F": "answer of the network",
    "G": "answer of the machine, 0 or 1",
    r"\varepsilon_\beta": "error of a coordinate of softmax attention at the inverse temperature `beta`",
    r"w_{TM}": "width of a hidden representation",
    "w": "width of the decoder",
    r"\mathrm{Bin}": "the bits of a number, `Bin_j` the `j`-th",
    "d": "number of its layers",
    r"\theta": "its parameters; the subscript names the lemma whose layers they are of",
    "p": "number of its parameters, zeros included",
}
TURING_MARGIN = {
    r"\rho_F": "all-layer margin of the transformer `F`",
    "F": "the transformer that simulates the machine",
    r"|\mathcal{Z}|": "number of states of the machine",
    r"|\mathcal{A}|": "number of symbols of its alphabet",
    "Z_{\\mathrm{term}}": "its terminal states",
    r"\operatorname{poly}": "a polynomial, the same for all machines",
    r"w_{\mathrm{pos}}": "number of bits of a position",
    "e": "exponent of the rate `w_pos^e` of the derived bound on `rho_F`",
    r"\mu": "Lipschitz constant of a layer in its input",
}
