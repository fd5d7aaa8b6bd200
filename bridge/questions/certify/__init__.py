"""Proofs of inequalities on boxes, by branch and bound over Arb balls, and their certificates."""

from bridge.questions.certify.proving import Outcome, Status, prove

__all__ = ["Outcome", "Status", "prove"]
