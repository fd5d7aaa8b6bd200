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
    r"\bar\ell_\gamma": "ramp loss `max(0, 1 - rho/gamma)`, which falls linearly from 1 at margin 0 to 0 at margin "
    "`gamma` and is 0 beyond",
}
CIRCUIT = {
    "G": "output of the circuit, 0 or 1",
    "x": "an input of `m` bits",
    "F": "output of the network that the proof constructs",
    "F'": "the same with correction functions",
    r"\theta": "parameters of the network",
    "f_i": "the two ReLU layers of the network that compute layer `i` of the circuit; the layer of the inputs is "
    "layer 0",
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
    "W": "the vector of the `W_i`",
    "W_i": "the weight of layer `i`, one number",
    "x": "the input",
    "y": "the label",
    r"\rho_f": "all-layer margin of `f`: the smallest 2-norm of a change of the parameters that makes the prediction "
    "wrong",
    r"\rho_{\tilde f}": "that of `f~`",
    "z": "a real number",
}
CIRCUIT_MARGIN = {
    r"\rho_F": "all-layer margin of the network `F` that the proof constructs",
    r"\rho_{F'}": "that of `F'`",
    "F": "the network",
    "F'": "the same with one correction shared by all layers",
    r"\theta": "parameters of the layers",
    r"\xi": "parameters of the corrections",
    "r": "width of the circuit",
    "b": "right side of the bound on `rho_F` for layers of width `r` and fan-in 2, at the largest constants that such "
    "layers have",
}
SAMPLES = {
    "P": "distribution of the inputs",
    "G": "the target",
    "F": "a parameterised network, with parameters `theta` in `R^p`",
    r"\theta": "parameters of `F`",
    r"\hat F": "the empirical risk minimiser: a function of the class with the least mean surrogate loss over the "
    "training inputs; the surrogate is (2.2) with `gamma` where the loss is the 0-1 loss",
    r"\ell": "a loss with values in `[0, 1]`; its surrogate is at least as large and has values in `[0, 1]`",
    r"\ell_{0\text{-}1}": "the 0-1 loss, 1 where the prediction is wrong, else 0",
    r"\mathbb{E}": "mean over an input from `P`",
    "x": "an input",
    "y": "its label",
    r"\mathcal{N}_{\|\cdot\|_2}": "covering number in the 2-norm",
    r"{\rm Rad}_{n,P}": "Rademacher complexity of a class of losses at `n` inputs from `P`",
    r"\Theta": "the l1 ball of radius `alpha`",
    "v": "an average of `k` vertices of the l1 ball, of which some may be the same",
    "k": "number of vertices in an average",
    r"\mathcal{L}_G": "the class of losses (2.2) for the target `G`",
    "R^p": "the space of the parameters",
    "m": "number of bits of an input",
}
TURING = {
    "i": "a step of the machine, 1 to `T`",
    "h": "hidden representation at step `i` of the decoder that the proof constructs, with hard-max attention, after "
    "the layers of the lemma or claim; the superscript names its coordinates",
    "z_i": "state of the machine after step `i`, one-hot",
    "u_i": "symbol that it writes in step `i`, one-hot",
    "q_i": "move of the head in step `i`: (1, 0) to the left, (0, 1) to the right, (0, 0) if it stays",
    "l_i": "location of the head after step `i`",
    "a_i": "symbol under the head after step `i`, one-hot",
    "i'": "the largest `t` with `1 <= t <= i` and `l_(t-1) = l_i`, 0 if there is none",
    "x": "input of the machine, symbol by symbol, each one-hot, and 0 beyond its length",
    "o_i": "output of the decoder at step `i`",
    r"\hat F": "answer of the network",
    "G": "answer of the machine, 0 or 1",
    r"\varepsilon_\beta": "error of a coordinate of softmax attention at the inverse temperature `beta`",
    r"w_{TM}": "width of a hidden representation: a coordinate for each state, two for each symbol and three for each "
    "bit of a position, and the scratch space, here one for each state, each symbol and each bit of a position",
    "w": "width of the decoder",
    r"\mathrm{Bin}": "the bits of a number, the most significant one first; `Bin_j` the first `j` of them, and 0 for "
    "the others",
    "d": "number of its layers",
    r"\theta": "its parameters; the subscript names the lemma whose layers they are of",
    "p": "number of its parameters, zeros included",
}
TURING_MARGIN = {
    r"\rho_F": "all-layer margin of the transformer `F`",
    "F": "the transformer that simulates the machine",
    r"|\mathcal{Z}|": "number of states of the machine",
    r"|\mathcal{A}|": "number of symbols of its alphabet",
    r"\operatorname{poly}": "a polynomial with positive values, the same for all machines",
    r"w_{\mathrm{pos}}": "number of bits of a position",
    "e": "exponent of the rate `w_pos^e` of the derived bound on `rho_F`",
    r"\mu": "Lipschitz constant of a layer in its input",
}
