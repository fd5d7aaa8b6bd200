"""What the letters of the statements of this topic mean that are not numbers (wei2021)."""

MARGIN = {
    "F": "the network, whose prediction is right where `(y - 1/2) F > 0`",
    r"\theta": "its parameters",
    r"\rho": "all-layer margin: the smallest 2-norm of a change of all parameters that makes the prediction wrong",
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
    r"\theta_i": "parameters of its layers that compute layer `i` of the circuit",
    "r_i": "number of gates of layer `i`",
    r"\xi_i": "parameters of the correction function after layer `i`",
}
ROUNDING = {
    "f": "the product `W_1 ... W_D x - 1/2` of `D` linear layers",
    r"\tilde f": "the same with a rounding after each layer, see (3.1)",
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
    r"\gamma": "power of the width `r` in the bound on the margin",
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
    r"\Theta": "the l1 ball of radius `alpha`",
    "v": "an average of `k` vertices of the l1 ball",
    "k": "number of vertices in an average",
    r"\mathcal{L}_G": "the class of losses (2.2) for the target `G`",
    "R^p": "the space of the parameters",
    "m": "number of bits of an input",
}
TURING = {
    "i": "a step of the machine",
    "h": "hidden representation of the decoder at step `i`; the superscript names its coordinates",
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
    r"w_{\mathrm{pos}}": "number of bits of a position",
    "e": "exponent of the rate `w_pos^e` of the derived bound on `rho_F`",
    r"\mu": "Lipschitz constant of a layer in its input",
}
