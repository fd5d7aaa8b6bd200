"""Other programs whose predictions stand beside those of a network."""

import warnings

import torch
from torch import Tensor

from symbolic.words.errors import UsageError

TOLERANCE, SWEEPS = 1e-14, 200_000  # of scikit-learn's Lasso


def least_squares(features: Tensor, targets: Tensor) -> Tensor:
    """Coefficients of (N, F) features for targets (N)."""
    return torch.linalg.lstsq(features, targets).solution


def linear_regression(features: Tensor, targets: Tensor, query: Tensor) -> Tensor:
    """The prediction of scikit-learn's LinearRegression without intercept, for features (N, F) and targets (N)."""
    _require_sklearn("a table is compared with")
    from sklearn.linear_model import LinearRegression

    model = LinearRegression(fit_intercept=False).fit(features.numpy(), targets.numpy())
    return torch.as_tensor(model.predict(query[None].numpy())[0], dtype=torch.float64, device="cpu")


def lasso(features: Tensor, targets: Tensor, lam: float) -> Tensor:
    """Coefficients of scikit-learn's Lasso, lam times their 1-norm beside the mean of squares, (F)."""
    _require_sklearn("a table is compared with")
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import Lasso

    model = Lasso(alpha=lam / 2, fit_intercept=False, tol=TOLERANCE, max_iter=SWEEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # rounding may end it before this tolerance
        return torch.as_tensor(model.fit(features.numpy(), targets.numpy()).coef_, dtype=torch.float64, device="cpu")


def gaussian_mixture(rows: Tensor, components: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Weights (c), means (c, d) and the covariance (d, d) of all components by scikit-learn's GaussianMixture.

    The likeliest of ten fits to rows (m, d), whose starts are drawn by the seed.
    """
    _require_sklearn("a mixture is fitted by")
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    more = {"n_init": 10, "tol": 1e-6, "max_iter": 1000, "random_state": seed % (1 << 32)}
    model = GaussianMixture(components, covariance_type="tied", **more)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # what is found is a mixture at any step
        model.fit(rows.numpy())
    weights, means, covariance = (
        torch.as_tensor(each, dtype=torch.float64, device="cpu")
        for each in (model.weights_, model.means_, model.covariances_)
    )
    return weights, means, (covariance + covariance.mT) / 2


def _require_sklearn(what: str) -> None:
    try:
        import sklearn  # noqa: F401 - whether it is there
    except ImportError as error:
        why = f"{what} scikit-learn, which is not installed: pip install 'boundsmith[data]'"
        raise UsageError(why) from error
