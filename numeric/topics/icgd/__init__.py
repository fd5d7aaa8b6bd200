"""Projected gradient descent on an N-layer network, in context, by ReLU attention (Wu et al. 2024, Theorem 1)."""

from numeric.topics.icgd.construction import IcgdSetting, icgd_setting
from numeric.topics.icgd.network import IcgdNetwork, run_exact_icgd
from numeric.topics.icgd.sampling import prompts, starts

__all__ = ["IcgdSetting", "icgd_setting", "IcgdNetwork", "run_exact_icgd", "prompts", "starts"]
