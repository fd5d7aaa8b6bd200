r"""What the letters of the statements of this topic mean that are not parameters (wang2024, Section 5, Appendix C)."""

VANILLA = {
    "x_s": "token `s`, the last one is `x_L`; `X` has them all",
    "s": "index of a token, from 2 to `L-1` in the maxima and in layer 2",
    "y_s": "output of layer 1 at token `s`, the mean of the `x_t`, `1 <= t < s`, with weights softmax of `-p (s-1-t)`; "
    "`y_1 = 0`, the empty sum, where the mask (3) shows key 1",
    r"W^\star": "the matrix `W*` of the induction head, `d x d`, whose scores are `x_L^T W* x_{s-1}`",
    r"\mathrm{IH}_2(X)": "output of the induction head, the mean of the `x_s`, `2 <= s <= L-1`, with weights softmax "
    "of its scores",
    r"\mathrm{TF}_{-1}(X)": "last output token of the transformer that the proof constructs, the mean of the `x_s` "
    "with weights softmax of `x_L^T W* y_s`",
    "W_K^{(2,1)}": "key matrix of layer 2, which takes `(x_s, y_s)` to `(0, W* y_s)`",
    "W_Q^{(2,1)}": "query matrix of layer 2, which takes `(x_s, y_s)` to `(0, x_s)`",
    r"\|W^\star\|_F": "Frobenius norm of `W*`",
}
NGRAM = {
    "x_s": VANILLA["x_s"],
    "s": "index of a token, from `n` to `L-1` in the maxima and in layer 2",
    "q": "the last `n-1` tokens, `x_L, ..., x_{L-n+2}`",
    "k_s": "the `n-1` tokens before token `s`, `x_{s-1}, ..., x_{s-n+1}`",
    r"\hat q": "`x_L` and what layer 1 writes beside it for the lags `1 .. n-2`",
    r"\hat k_s": "what layer 1 writes beside token `s` for the lags `1 .. n-1`, for lag `i` the sum over its heads "
    "`h` of `c_{h,i}/(1 - r_h)` times the mean of the `x_t`, `t < s`, with weights softmax of `log(r_h) (s-1-t)`",
    "c_{h,i}": "`(-1)^(H-i)` times the elementary symmetric polynomial of degree `H-i` of the rates but `r_h`, over "
    "the product of `r_h - r_j` over all `j` but `h`",
    "e_k": "elementary symmetric polynomial of degree `k` of the rates",
    "r_h": "the rates, `rho sin(pi (h - 63/64)/(2 H))^2 / sin(pi (H - 63/64)/(2 H))^2`, `h = 1 .. H`",
    r"W^\star": "the square matrix `W*` of the induction head, of size `(n-1) d`",
    r"\mathrm{IH}_n(X)": "output of the induction head, the mean of the `x_s`, `n <= s <= L-1`, with weights softmax "
    "of its scores `q^T W* k_s`",
    r"\mathrm{TF}_{-1}(X)": "last output token of the transformer that the proof constructs, the mean of the `x_s` "
    "with weights softmax of its scores",
    r"\mathrm{TF}^{\text{printed}}_{-1}(X)": "the same with the value weights that A.2 prints, `c_{h,i}` times "
    "`sum_{j=0}^H r_h^(j-1)` in the place of `c_{h,i}/(1 - r_h)`",
    r"\mathrm{score}_s": "score of token `s` in layer 2",
    r"\hat x_{s-n+1}": "what layer 1 writes beside token `s` for the lag `n-1`",
    r"\hat x_{L-1}": "what layer 1 writes beside token `L` for the lag 1",
    r"\mathrm{fl}(\hat k_s)": "what layer 1 writes beside token `s` in the numbers of the run",
}
OPTIMA = {
    r"g^\star": "`alpha*/(1 + alpha*)`",
    r"h^\star": "`1/(1 + alpha*)`",
    r"v^\star": "`w*^2`",
}
PSI = "the function `psi(x) = (1 - x^2)^(-1/2)`"
PHI = "its derivative `phi(x) = x (1 - x^2)^(-3/2)`"
TRAINING = {
    "p": "slope of the relative position bias of the 4-gram head",
    "g": "value weight of the 4-gram head",
    "w": "`w_Q = w_K`, the query and key weights of the induction head",
    "w_Q": "query weight of the induction head",
    "w_K": "key weight of the induction head",
    "h": "value weight of the induction head",
    "v": "`w^2`",
    r"\mathcal{L}": "loss (19) of the 4-gram head plus loss (22) of the induction head",
    r"\mathcal{L}_{\rm IH_2}": "loss (22) of the induction head, also `L_IH2`",
    r"\mathcal{L}_{\rm G_4}": "loss (19) of the 4-gram head, also `L_G4`",
    **OPTIMA,
    "t": "time of the gradient flow",
}
BALANCE = {
    "w_Q": "query weight of the induction head along the flow (12)",
    "w_K": "key weight of the induction head along the flow (12)",
    "h": TRAINING["h"],
    r"\dot w": "printed rate of `w = w_Q = w_K`",
}
LOSSES = {
    **TRAINING,
    r"\mathcal{L}_{G_4}": "loss of the 4-gram head, the mean of `(g* x_{L-2} - g sum_{s=2}^{L-1} softmax(-p (L-1-s)) "
    "x_{s-1})^2/2`",
    r"\mathcal{L}_{IH_2}": "loss of the induction head, the mean of `(sum_{s=2}^{L-1} (h* e^(w*^2 x_L x_{s-1}) - h "
    "e^(w^2 x_L x_{s-1})) x_s)^2/(2 (L-2)^2)`; with softmax as it is, the weights softmax over `s` of the exponents "
    "stand in the place of the exponentials over `L-2`, which stays where the sums of the network end at `s = L-2`",
    "x_s": "token `s`",
    "X": "a standard normal variable, independent of `Y` and `Z`, which are so too",
    "Y": "see `X`",
    "Z": "see `X`",
    r"\mathbb{E}": "mean over `X`, `Y` and `Z`",
    r"\mathrm{softmax}(-p(L-1-s))": "weight of `x_{s-1}` in the 4-gram head, softmax over all `s` of the sum: `2 "
    ".. L-1`, or `2 .. L-2` where the sums end there",
}
FIRST_STAGE = {
    r"\tilde p": "slope of the relative position bias of layer 1, which alone stage I trains, by the flow (11) with "
    "the 4-gram head `g_0 sum_{s=2}^{L-1} softmax(-p (L-1-s)) y_s`",
    r"\dot{\tilde p}": "its rate",
    "p": "slope of the relative position bias of the 4-gram head",
    "g_0": "value weight of the 4-gram head, which stage I does not train",
    r"g^\star": OPTIMA[r"g^\star"],
    "w_K": "key weight of the induction head",
    "w_Q": "query weight of the induction head",
    "u": "`e^(-p~)`",
    "Z_n(r)": "`1 + r + ... + r^(n-1)` for `n = L - 2` and `r = e^(-p)`",
    "q": "the function `q(p~) = sum_{tau=1}^{L-2} c_tau^2`, where `c_tau = sum_{s=tau+1}^{L-1} e^(-p~(s-1-tau))/(1 + "
    "e^-p~ + ... + e^(-p~(s-2)))`",
    "M": "the function `M(p~) = 1 + e^-p~ + ... + e^(-p~(L-3))`",
    "m": "its derivative with the sign changed, `m = -M'`",
    "t": "time of the gradient flow",
    r"\mathrm{softmax}_s": "weights of layer 1 at token `s`",
    "y_s": "output of layer 1 at token `s`",
    "s": "index of a token, `2 .. L-1` in `q`",
    r"\tau": "index of a token, `1 .. L-2` in `q`",
}
FIXED_POINT = {
    r"\theta": "the parameters `(p, g, w, h)`",
    r"\dot\theta": "their rate along the flow, in `(e^-p, g, w, h)`",
    r"\dot g": "rate of `g`",
    "w_Q": "query weight of the induction head",
    "w_K": "key weight of the induction head",
    "x_s": "token `s`",
    "y_s": "output of layer 1 at token `s`",
    **TRAINING,
}
KARAMATA = {
    "C": "the function `C(x) = x (1 - x^2)^(-3/2)`",
    "x": "a number between 0 and 1",
    **{name: TRAINING[name] for name in ("v", "w", "w_Q", "w_K", "h", r"v^\star", r"h^\star", "t")},
    r"\dot w": "rate of `w`",
    r"\beta": "a number, the exponent parameter of the estimate (29)",
    r"\gamma": "a number, in (29) a bound on `h/h*`",
}
TRENDS = {
    "T_1^h": "first time at which `h` reaches `h*`",
    "T_2^h": "time at which `h` turns",
    "T_{1/2}^w": "time at which `w` reaches `w*/2`",
    "h_{(24)}": "right side of (24)",
    r"\psi": PSI,
    r"\phi": PHI,
    r"\tau": "`t/(L-2)`",
    r"\dot w": "rate of `w`",
    r"\dot h": "rate of `h`",
    r"\sigma": "`sigma_init`",
    **TRAINING,
}
PHASES = {
    "M(p)": "`1 + e^-p + ... + e^(-p(L-3))`",
    r"T_{\rm I}": "end of phase I, the first time at which `L_G4` is at most 0.01 of its start",
    "T_o": "first time at which `h` exceeds `h*`",
    r"T_{\rm II}": "end of phase II, the first time after `T_o` with `L_IH2` at most 0.99 of `L_IH2(T_o)`",
    r"T_{\rm III}": "end of phase III, the first time after `T_o` with `L_IH2` at most 0.01 of `L_IH2(T_o)`",
    r"\psi": PSI,
    r"\phi": PHI,
    "w_{KQ}": "`w`, the query and key weight of the induction head",
    **TRAINING,
}
LYAPUNOV_GRAM = {
    "u": "`e^-p`",
    "v": "`u g* + g* - g`",
    "G": "`(u^2 + v^2)/2`, along the gradient flow of (19)",
    "c": "constant of the decay of `G`",
    "f": "difference of the sides of an inequality of the proof",
    "t_1": "a time",
    r"\xi_i": "errors of the paper's flow in `(u, v)`, numbers `xi_1` to `xi_5` (C.1, Part II)",
    **{name: TRAINING[name] for name in ("p", "g", "t")},
    r"g^\star": "a number between 0 and 1, the target of `g`",
    "L": "number of tokens",
}
LYAPUNOV_HEAD = {
    r"\psi": PSI,
    r"\phi": PHI,
    "G": "`((v - v*)^2 + (h - h*)^2)/2`, along the flow of (22): (12), or the paper's in `(w, h)`",
    "c": "constant of the decay of `G`",
    "f": "difference of the sides of an inequality of the proof",
    **{name: TRAINING[name] for name in ("v", "w", "w_Q", "w_K", "h", r"v^\star", r"h^\star", "t")},
    "L": "number of tokens",
}
FIGURE_2 = {
    r"T_{\rm I}": "first time at which the 4-gram loss is 0.01 of its start",
    "T_o": "first time at which `h` reaches `h*`",
    r"T_{\rm II}": "first time after `T_o` at which the loss of the induction head is 0.99 of that at `T_o`, the end "
    "of the plateau",
    r"T_{\rm III}": "first time after `T_o` at which the loss of the induction head is 0.01 of that at `T_o`",
    r"\psi": PSI,
    r"\phi": PHI,
    **TRAINING,
}
