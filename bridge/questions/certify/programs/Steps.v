(* Steps that proofs of certificates use: each is proved once. *)
Set Warnings "-ambiguous-paths".
From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

(* f(x) - f(z) = f'(c) (x - z), with c strictly between z and x. *)
Lemma mean_value : forall (f f' : R -> R) a b z x, a <= z <= b -> a <= x <= b -> x <> z ->
  (forall t, a <= t <= b -> is_derive f t (f' t)) ->
  exists c, a <= c <= b /\ f x - f z = f' c * (x - z) /\ 0 < (c - z) * (x - z).
Proof.
intros f f' a b z x Hz Hx N D.
destruct (Rtotal_order z x) as [L|[L|L]]; [ | lra | ].
- destruct (MVT_cor2 f f' z x L) as [c [E C]].
  { intros t Ht. apply is_derive_Reals, D. lra. }
  exists c. split; [lra | split; [exact E | apply Rmult_lt_0_compat; lra]].
- destruct (MVT_cor2 f f' x z L) as [c [E C]].
  { intros t Ht. apply is_derive_Reals, D. lra. }
  exists c. split; [lra | split; [lra | ]].
  replace ((c - z) * (x - z)) with ((z - c) * (z - x)) by ring. apply Rmult_lt_0_compat; lra.
Qed.

(* Odd step: f(z) = 0 and f' >= 0 on [a, b], so that (x - z) f(x) >= 0. *)
Lemma odd_step : forall (f f' : R -> R) a b z, a <= z <= b ->
  (forall t, a <= t <= b -> is_derive f t (f' t)) -> f z = 0 ->
  (forall t, a <= t <= b -> 0 <= f' t) -> forall x, a <= x <= b -> 0 <= (x - z) * f x.
Proof.
intros f f' a b z Hz D F H x Hx. destruct (Req_dec x z) as [->|N].
{ rewrite F, Rmult_0_r. apply Rle_refl. }
destruct (mean_value f f' a b z x Hz Hx N D) as [c [Hc [E _]]].
replace ((x - z) * f x) with (f' c * ((x - z) * (x - z))).
{ apply Rmult_le_pos; [now apply H | apply Rle_0_sqr]. }
replace (f x) with (f' c * (x - z)) by lra. ring.
Qed.

(* Even step: f(z) >= 0 and (x - z) f'(x) >= 0 on [a, b], so that f >= 0. *)
Lemma even_step : forall (f f' : R -> R) a b z, a <= z <= b ->
  (forall t, a <= t <= b -> is_derive f t (f' t)) -> 0 <= f z ->
  (forall t, a <= t <= b -> 0 <= (t - z) * f' t) -> forall x, a <= x <= b -> 0 <= f x.
Proof.
intros f f' a b z Hz D F H x Hx. destruct (Req_dec x z) as [->|N]; [exact F | ].
destruct (mean_value f f' a b z x Hz Hx N D) as [c [Hc [E S]]].
assert (0 <= f' c * (x - z)); [ | lra].
specialize (H c Hc). destruct (Rle_lt_dec 0 (f' c * (x - z))) as [P|P]; [exact P | exfalso].
assert (Q : ((c - z) * f' c) * ((x - z) * (x - z)) = ((c - z) * (x - z)) * (f' c * (x - z))) by ring.
assert (0 <= ((c - z) * f' c) * ((x - z) * (x - z))) by (apply Rmult_le_pos; [exact H | apply Rle_0_sqr]).
assert (0 < ((c - z) * (x - z)) * - (f' c * (x - z))) by (apply Rmult_lt_0_compat; lra).
lra.
Qed.

(* Taylor to the second order at z: f(z) = 0, f'(z) = 0 and f'' >= 0 on [a, b], so that f >= 0. *)
Lemma second_step : forall (f f' f'' : R -> R) a b z, a <= z <= b ->
  (forall t, a <= t <= b -> is_derive f t (f' t)) -> (forall t, a <= t <= b -> is_derive f' t (f'' t)) ->
  f z = 0 -> f' z = 0 -> (forall t, a <= t <= b -> 0 <= f'' t) -> forall x, a <= x <= b -> 0 <= f x.
Proof.
intros f f' f'' a b z Hz D D' F F' H. apply (even_step f f' a b z Hz D); [rewrite F; apply Rle_refl | ].
intros t Ht. now apply (odd_step f' f'' a b z Hz D' F' H).
Qed.

(* Monotone: f' >= 0 (f' <= 0) between s and x, so that f is at least f(s). *)
Lemma growing_step : forall (f f' : R -> R) s x, s <= x ->
  (forall t, s <= t <= x -> is_derive f t (f' t)) -> (forall t, s <= t <= x -> 0 <= f' t) -> 0 <= f s -> 0 <= f x.
Proof.
intros f f' s x L D H F. destruct (Req_dec x s) as [->|N]; [exact F | ].
destruct (mean_value f f' s x s x ltac:(lra) ltac:(lra) N D) as [c [Hc [E _]]].
assert (0 <= f' c * (x - s)) by (apply Rmult_le_pos; [now apply H | lra]). lra.
Qed.

Lemma falling_step : forall (f f' : R -> R) s x, x <= s ->
  (forall t, x <= t <= s -> is_derive f t (f' t)) -> (forall t, x <= t <= s -> 0 <= - f' t) -> 0 <= f s -> 0 <= f x.
Proof.
intros f f' s x L D H F. destruct (Req_dec x s) as [->|N]; [exact F | ].
destruct (mean_value f f' x s s x ltac:(lra) ltac:(lra) N D) as [c [Hc [E _]]].
assert (0 <= - f' c * (s - x)) by (apply Rmult_le_pos; [now apply H | lra]). lra.
Qed.

(* |f'| <= L on [a, b]: f has the Lipschitz constant L. *)
Lemma lipschitz_step : forall (f f' : R -> R) a b L,
  (forall t, a <= t <= b -> is_derive f t (f' t)) -> (forall t, a <= t <= b -> Rabs (f' t) <= L) ->
  forall x y, a <= x <= b -> a <= y <= b -> Rabs (f x - f y) <= L * Rabs (x - y).
Proof.
intros f f' a b L D H x y Hx Hy. destruct (Req_dec x y) as [->|N].
{ rewrite !Rminus_eq_0, Rabs_R0. lra. }
destruct (mean_value f f' a b y x Hy Hx N D) as [c [Hc [E _]]].
rewrite E, Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos | now apply H].
Qed.

(* A quadratic form of two rows: its matrix has principal minors >= 0. *)
Lemma form_step : forall a b c x y, 0 <= a -> 0 <= c -> 0 <= a * c - b * b ->
  0 <= x * a * x + x * b * y + y * b * x + y * c * y.
Proof.
intros a b c x y A C D. destruct (Rle_lt_or_eq_dec 0 a A) as [P|E].
- apply (Rmult_le_reg_l a); [exact P | rewrite Rmult_0_r].
  replace (a * (x * a * x + x * b * y + y * b * x + y * c * y))
    with ((a * x + b * y) * (a * x + b * y) + (a * c - b * b) * (y * y)) by ring.
  apply Rplus_le_le_0_compat; [apply Rle_0_sqr | apply Rmult_le_pos; [exact D | apply Rle_0_sqr]].
- subst a. assert (b = 0).
  { apply Rsqr_0_uniq, Rle_antisym; [unfold Rsqr; lra | apply Rle_0_sqr]. }
  subst b. replace (x * 0 * x + x * 0 * y + y * 0 * x + y * c * y) with (c * (y * y)) by ring.
  apply Rmult_le_pos; [exact C | apply Rle_0_sqr].
Qed.

(* The square roots of what is 1, at a place where letters are 0. *)
Ltac roots_of_1 := repeat match goal with |- context [sqrt ?e] => replace e with 1 by ring; rewrite sqrt_1 end.

(* Functions that the library Interval does not have. *)
Lemma tanh_by_exp : forall x, tanh x = 1 - 2 / (exp (2 * x) + 1).
Proof.
intro x. unfold tanh, sinh, cosh. replace (2 * x) with (x + x) by ring. rewrite exp_plus, exp_Ropp.
assert (0 < exp x) by apply exp_pos. field. split; nra.
Qed.

Lemma Rmax_by_Rabs : forall x y, Rmax x y = (x + y + Rabs (x - y)) / 2.
Proof. intros. unfold Rmax, Rabs. destruct (Rle_dec x y), (Rcase_abs (x - y)); lra. Qed.

Lemma Rmin_by_Rabs : forall x y, Rmin x y = (x + y - Rabs (x - y)) / 2.
Proof. intros. unfold Rmin, Rabs. destruct (Rle_dec x y), (Rcase_abs (x - y)); lra. Qed.
