"""What the letters of the statements of this topic mean that are not numbers (algoformer)."""

POSITIONS = {
    "p_i": "vector of position `i`",
    r"m_{\min}": "the least dimension in which there are `N` such vectors",
}
LINEARISED = {
    "x_i": "example `i`",
    "r_i": "residual of example `i`, and of the test token with the sign turned",
    "Z": "scores of one head, `c z_ij`, beside the score `C` of the sink",
    "z_{ij}": "`x_i^T x_j / N`",
    r"\hat z": "the difference of the weights of two heads over `c`; the second one has scores 0, marked (0), or the "
    "opposite scores, marked (-)",
    r"\hat r_i": "residual of example `i` after one layer",
}
GRADIENT_DESCENT = {
    r"\Phi(x)": "representation of an input `x` by the MLP",
    "x": "an input",
    "y": "a label",
    "X": "the `N` inputs of the examples",
    "Y": "their labels in this output",
    "A_T": "matrix after `T` exact steps of gradient descent from 0 on the least squares of the examples",
    r"\hat p_T": "prediction of the transformer for the test input after `T` loops",
    r"\hat r_T": "its residuals on the examples after `T` loops, of one output",
}
AUTOREGRESSION = {
    "x_t": "value of the series at time `t`",
    r"\hat x_{t-i}": "its copy in the token of time `t`",
    r"\Phi": "representation of the last `q` values",
    "A_T": "matrix after `T` exact steps of gradient descent from 0 on the least squares of the series",
    r"\hat x_{N+1}": "prediction of the transformer",
    "R_T": "residuals of one coordinate after `T` exact steps",
    r"\hat R_T": "those of the transformer",
    r"\mathrm{layers}": "number of layers",
    r"\mathrm{heads}": "largest number of heads of a layer",
}
CHAIN_OF_THOUGHT = {
    "s^l": "state of the begun chain at step `l`",
    "W": "matrix of step `l`, `s^{l+1} = sigma(W s^l)`",
    r"\sigma": "leaky ReLU, with the slope `lambda` below 0",
    r"\hat s^{l+1}": "next state by the transformer",
    "X": "states of the `N` example chains at step `l`",
    "A_T": "matrix after `T` exact steps of gradient descent from 0 on the least squares of the examples",
    "r_i": "residual of token `i` before the loops",
    r"\hat r_i": "that of the transformer",
}
NEWTON = {
    "X": "matrix of the inputs `x_i` of the examples",
    "S": "`X^T X`",
    "M_T": "iterate after `T` exact steps of Newton's iteration for the inverse of `S`, from `alpha S`",
    r"\hat M_T": "that of the transformer",
    "x": "the test input",
    "y": "the labels `y_i` of the examples",
    r"\hat y": "prediction of the transformer for `x`",
    r"\hat y_i": "label in the token of its pair",
}
DECODER = {
    "x_j": "input of example `j`",
    "y_j": "its label",
    "w^i_T": "weights after `T` exact steps of gradient descent from 0 on the examples before `i`",
    r"\hat w^i_T": "those of the transformer",
    r"\hat y_i": "prediction of the transformer for `x_i`",
    r"\hat g_i": "output of the printed layer at token `i`",
    r"\mathrm{layers}": "number of layers",
    r"\mathrm{heads}": "largest number of heads of a layer",
}
