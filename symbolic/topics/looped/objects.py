"""What the letters of the statements of this topic mean that are not numbers (algoformer)."""

POSITIONS = {
    r"m_{\min}": "the least dimension in which there are `N` vectors of norm `r` with a gap above `eps`, "
    "`p_i^T p_i - p_i^T p_j > eps` for `i != j`",
    "p_i": "vector of position `i`; a vector of signs has coordinates of one absolute value",
    r"r_{\mathrm{digits}}": "norm at which the least `p_i^T p_i - p_i^T p_j` is `eps` for the binary digits of "
    "`0, ..., N - 1` as signs, in `ceil(log2 N)` dimensions",
    r"r_{\mathrm{circle}}": "norm at which it is `eps` for `N` points at equal distances on a circle",
}
LINEARISED = {
    "x_i": "input of token `i`: of an example for `i <= N`, the test input for `i = N + 1`",
    "r_i": "number that token `i` holds, for `i = 1, ..., N + 1`; the tokens of labels hold 0",
    "z_{ij}": "score of token `i` for key `j` over `c`: `x_i^T x_j / N` at the examples `j = 1, ..., N`, 0 at the `N` "
    "tokens of labels and at the test token",
    "z": "matrix of the `z_ij`, with `N + 1` rows and `2 N + 1` columns",
    "Z": "scores of one head at its `2 N + 2` keys: `c z` at `2 N + 1` of them, and `C` at the sink, whose column of "
    "the softmax is left out",
    r"\hat z^{(0)}": "`e^C/c` times the difference of the weights of two heads, with the scores `c z` and 0, both with "
    "the score `C` of the sink",
    r"\hat z^{(-)}": "`e^C/(2 c)` times the difference of the weights of two heads with the scores `c z` and `-c z`, "
    "both with the score `C` of the sink, at `c = c_odd` and `C = C_odd`",
    r"\hat r_i": "number that token `i` holds after one layer: `r_i` less `eta` times the sum of the numbers of all "
    "tokens, weighted by the row of token `i` in the matrix of the same mark",
}
GRADIENT_DESCENT = {
    r"\Phi(x)": "representation of an input `x` by the MLP",
    "x_i": "input of example `i`",
    "y_i": "its vector of `m` labels",
    r"x_{\mathrm{test}}": "the test input",
    "X": "matrix whose rows are the `x_i`; the rows of `Phi(X)` are the `Phi(x_i)`",
    "A_k": "matrix after `k` exact steps of gradient descent on the least squares of the examples: `A_0 = 0` and "
    "`A_(k+1) = A_k - eta/N sum_(i=1)^N (A_k Phi(x_i) - y_i) Phi(x_i)^T`",
    r"\hat p_k": "prediction of the transformer that the proof constructs, with `c`, `C` and `tau`, for the test input "
    "after `k` loops, in exact arithmetic",
    "r_k": "vector of the residuals `A_k Phi(x_i) - y_i` at `i = 1, ..., N`, of one output",
    r"\hat r_k": "that of the transformer after `k` loops, in exact arithmetic",
}
AUTOREGRESSION = {
    "x_t": "value of the series at time `t`, 0 for `t < 0`",
    r"\hat x_{t-i}": "copy of `x_(t-i)` in the token of time `t`, for `1 <= i <= q`",
    r"\Phi": "the representation, which maps vectors of `q d` coordinates to such vectors",
    r"\Phi_t": "`Phi(x_(t-1), ..., x_(t-q))`",
    "A_k": "matrix after `k` exact steps of gradient descent on the least squares of the series: `A_0 = 0` and "
    "`A_(k+1) = A_k - eta/N sum_(t=1)^N (A_k Phi_t - x_t) Phi_t^T`",
    r"\hat x_{N+1}": "prediction of the transformer that the proof constructs, with these positions, `beta`, `c` and "
    "`C`",
    "R_k": "vector of the residuals `A_k Phi_t - x_t` at `t = 1, ..., N`, of one coordinate",
    r"\hat R_k": "that of the transformer after `k` loops",
    r"\mathrm{layers}": "number of layers",
    r"\mathrm{heads}": "largest number of heads of a layer",
}
CHAIN_OF_THOUGHT = {
    "s^l": "state of the begun chain at step `l`",
    "s_i": "state of example chain `i` at step `l`; its next state is `sigma(W s_i)`",
    "W": "matrix of step `l`: the next state of the begun chain is `sigma(W s^l)`",
    r"\sigma": "leaky ReLU, with the slope `lambda` below 0",
    r"\hat s^{l+1}": "next state of the begun chain by the transformer that the proof constructs, with `c`, `C` and "
    "`tau`, after `T` loops",
    "X": "matrix whose rows are the `s_i`",
    "A_k": "matrix after `k` exact steps of gradient descent on the least squares of the examples: `A_0 = 0` and "
    "`A_(k+1) = A_k - eta/N sum_(i=1)^N (A_k s_i - W s_i) s_i^T`",
    "r_j": "what token `j` is to hold before the loops: `-W s_i` at `s_i`, 0 at every other token",
    r"\hat r_j": "what it holds in the transformer: exactly 0 at the token of `s^l` and at all others but "
    "those of the `s_i`",
}
NEWTON = {
    "X": "matrix whose rows are the inputs `x_i` of the examples",
    "S": "`X^T X`",
    "M_k": "iterate of Newton's iteration for the inverse of `S` after `k` exact steps: `M_0 = alpha S` and "
    "`M_(k+1) = 2 M_k - M_k S M_k`",
    r"\hat V_k": "matrix whose columns the tokens of the examples hold in the transformer after `k` loops, in the "
    "place of `M_k X^T`; the transformer is the one that the proof constructs, with `c`, `C` and `tau`",
    "x": "the test input",
    "y": "vector of the labels `y_i` of the examples",
    r"\hat y": "prediction of the transformer for `x`",
    r"\hat y_i": "label in the token of its pair",
}
DECODER = {
    "x_j": "input of example `j`",
    "y_j": "its label",
    "w^i_k": "weights after `k` exact steps of gradient descent on the examples before `i`: `w^i_0 = 0` and "
    "`w^i_(k+1) = w^i_k - eta/(i - 1) sum_(j < i) (x_j^T w^i_k - y_j) x_j`; 0 for `i = 1`",
    r"\hat w^i_k": "those of the transformer that the proof constructs, with `c` and `C`, after `k` loops",
    r"\hat y_i": "prediction of the transformer for `x_i`",
    "v^i": "weights that token `i` holds before the printed layer",
    r"\hat g_i": "output of the printed layer at token `i`, 0 for `i = 1`, which attends to none; its sinks, the token "
    "of `y_1` in one head and that of `x_1` in the other, have the score `C` itself",
    r"\mathrm{layers}": "number of layers",
    r"\mathrm{heads}": "largest number of heads of a layer",
}
