"""Widths of the letters and signs that LaTeX sets, in ems of Computer Modern at 10pt."""


def _table(widths: str) -> dict[str, float]:
    return {name: float(number) for name, number in (entry.rsplit("=", 1) for entry in widths.split())}


ITALIC = _table(r"""
a=.529 b=.429 c=.433 d=.520 e=.466 f=.490 g=.477 h=.576 i=.345 j=.412 k=.521 l=.298 m=.878 n=.600 o=.485 p=.503 q=.446
r=.451 s=.469 t=.361 u=.572 v=.485 w=.716 x=.572 y=.490 z=.465 A=.750 B=.759 C=.715 D=.828 E=.738 F=.643 G=.786 H=.831
I=.440 J=.555 K=.849 L=.681 M=.970 N=.803 O=.763 P=.642 Q=.791 R=.759 S=.613 T=.584 U=.683 V=.583 W=.944 X=.828 Y=.581
Z=.683 \Gamma=.625 \Delta=.833 \Theta=.778 \Lambda=.694 \Xi=.667 \Pi=.750 \Sigma=.722 \Upsilon=.778 \Phi=.722 \Psi=.778
\Omega=.722 \alpha=.640 \beta=.566 \gamma=.518 \delta=.444 \epsilon=.406 \zeta=.438 \eta=.497 \theta=.469 \iota=.354
\kappa=.576 \lambda=.583 \mu=.603 \nu=.494 \xi=.438 \pi=.570 \rho=.517 \sigma=.571 \tau=.437 \upsilon=.540 \phi=.596
\chi=.626 \psi=.651 \omega=.622 \varepsilon=.466 \vartheta=.591 \varpi=.828 \varrho=.517 \varsigma=.363 \varphi=.654
\ell=.417 \partial=.531 \infty=1.0 \nabla=.833 \emptyset=.5 \forall=.556 \exists=.556 \top=.778 \bot=.778 \prime=.275
\dots=1.333 \ldots=1.167 \cdots=1.333 \|=.5 |=.278 \hbar=.529 \star=.5 \dagger=.444 \#=.833 \%=.833 ?=.472 !=.278
.=.278 /=.5 0=.5 1=.5 2=.5 3=.5 4=.5 5=.5 6=.5 7=.5 8=.5 9=.5
""")
# What an italic letter takes beside its width, unless a subscript follows.
CORRECTIONS = _table(r"""
f=.107 g=.036 j=.057 k=.031 l=.020 q=.036 r=.028 v=.036 w=.027 y=.036 z=.044 B=.050 C=.071 D=.028 E=.058 F=.139 H=.081
I=.078 J=.096 K=.072 M=.109 N=.109 O=.028 P=.139 R=.008 S=.058 T=.139 U=.109 V=.223 W=.139 X=.079 Y=.222 Z=.071
\beta=.052 \gamma=.055 \delta=.038 \zeta=.073 \eta=.035 \theta=.028 \nu=.064 \xi=.046 \pi=.036 \sigma=.036 \tau=.113
\upsilon=.036 \psi=.036 \omega=.036 \varpi=.028 \varsigma=.080 \partial=.055
""")
ROMAN = _table(r"""
a=.500 b=.556 c=.444 d=.556 e=.444 f=.306 g=.500 h=.556 i=.278 j=.306 k=.528 l=.278 m=.833 n=.556 o=.500 p=.556 q=.528
r=.392 s=.394 t=.389 u=.556 v=.528 w=.722 x=.528 y=.528 z=.444 A=.750 B=.708 C=.722 D=.764 E=.681 F=.653 G=.785 H=.750
I=.361 J=.514 K=.778 L=.625 M=.917 N=.750 O=.778 P=.681 Q=.778 R=.736 S=.556 T=.722 U=.750 V=.750 W=1.028 X=.750 Y=.750
Z=.611 .=.278 ,=.278 :=.278 ;=.278 (=.389 )=.389 [=.278 ]=.278 /=.5 -=.333 *=.5 '=.278 !=.278 ?=.472 +=.778
<=.278 >=.472 \_=.5 \#=.833 \%=.833 \&=.778 \{=.5 \}=.5 \textbar=.278 \textless=.778 \textgreater=.778 \textbackslash=.5
""")
RELATIONS = _table(r"""
==.778 <=.778 >=.778 :=.278 \le=.778 \leq=.778 \ge=.778 \geq=.778 \ne=.778 \neq=.778 \sim=.778 \approx=.778 \equiv=.778
\ll=1.0 \gg=1.0 \in=.667 \to=1.0 \mapsto=1.0 \lesssim=.778 \gtrsim=.778 \prec=.778 \succ=.778 \uparrow=.5 \mid=.278
\subset=.778 \subseteq=.778 \Rightarrow=1.0 \rightarrow=1.0 \propto=.778
""")
BINARY = _table(r"""
+=.778 -=.778 *=.5 \cdot=.278 \times=.778 \pm=.778 \mp=.778 \otimes=.778 \oplus=.778 \odot=.778 \wedge=.667 \vee=.667
\circ=.5
""")
OPENING = _table(r"(=.389 [=.278 \{=.5 \lfloor=.444 \lceil=.444 \langle=.389 \lvert=.278 \lVert=.5")
CLOSING = _table(r")=.389 ]=.278 \}=.5 \rfloor=.444 \rceil=.444 \rangle=.389 \rvert=.278 \rVert=.5")
PUNCTUATION = {",": 0.278, ";": 0.278}
DELIMITERS = {**OPENING, **CLOSING, "|": 0.278, r"\|": 0.5}
LARGE = {r"\sum": (1.444, 1.056), r"\prod": (1.278, 0.944), r"\int": (0.556, 0.472)}  # in displays, and in text
FONTS = {r"\mathcal": 1.05, r"\mathbf": 1.15, r"\mathbb": 1.0, r"\mathsf": 0.97, r"\boldsymbol": 1.15}  # over italic
BIG = {r"\big": 0.458, r"\Big": 0.578, r"\bigg": 0.597, r"\Bigg": 0.736}
QUAD = 18
# In muglue.
SPACES = {
    r"\,": 3,
    r"\:": 4,
    r"\>": 4,
    r"\;": 5,
    r"\!": -3,
    r"\quad": QUAD,
    r"\qquad": 2 * QUAD,
    "~": 6,
    r"\ ": 6,
}
