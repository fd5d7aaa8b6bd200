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

(* Factors: powers of what is >= 0, even powers, and their inverses. *)
Lemma inverse_step : forall a, 0 <= a -> 0 <= / a.
Proof.
intros a [P|<-]; [left; now apply Rinv_0_lt_compat | rewrite Rinv_0; apply Rle_refl].
Qed.

Ltac nonnegative :=
  first [assumption | apply pow2_ge_0 | apply Rabs_pos | lra | apply pow_le; nonnegative | apply inverse_step; nonnegative
        | apply Rmult_le_pos; nonnegative].

Ltac positive :=
  first [assumption | apply exp_pos | lra | apply pow_lt; positive | apply Rinv_0_lt_compat; positive
        | apply Rmult_lt_0_compat; positive].

(* Weighted means: the product of X^p over a list of (p, X) is at most M^N, for N = sum p and sum p X <= N M. *)
Fixpoint total (l : list (nat * R)) : R := match l with nil => 0 | cons (p, x) r => INR p * x + total r end.
Fixpoint product (l : list (nat * R)) : R := match l with nil => 1 | cons (p, x) r => x ^ p * product r end.
Fixpoint count (l : list (nat * R)) : nat := match l with nil => O | cons (p, _) r => (p + count r)%nat end.
Fixpoint none_negative (l : list (nat * R)) : Prop := match l with nil => True | cons (_, x) r => 0 <= x /\ none_negative r end.

Lemma exp_pow : forall x n, exp x ^ n = exp (INR n * x).
Proof.
intros x n. induction n as [|n IH]; [simpl; now rewrite Rmult_0_l, exp_0 | ].
rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus, <- IH. simpl. ring.
Qed.

(* X <= M exp(X/M - 1) for each of them. *)
Lemma product_below : forall l M, 0 < M -> none_negative l ->
  0 <= product l <= M ^ count l * exp (total l / M - INR (count l)).
Proof.
intros l M HM. induction l as [|[p x] r IH]; intros H.
- simpl. replace (0 / M - 0) with 0 by (unfold Rdiv; ring). rewrite exp_0. lra.
- destruct H as [Hx Hr]. specialize (IH Hr). cbn [product total count]. rewrite pow_add, plus_INR.
  assert (X : 0 <= x ^ p <= M ^ p * exp (INR p * (x / M - 1))).
  { split; [now apply pow_le | ]. rewrite <- exp_pow, <- Rpow_mult_distr. apply pow_incr. split; [exact Hx | ].
    replace x with (M * (1 + (x / M - 1))) at 1 by (field; lra).
    apply Rmult_le_compat_l; [lra | apply exp_ineq1_le]. }
  split; [apply Rmult_le_pos; [apply X | apply IH] | ].
  replace ((INR p * x + total r) / M - (INR p + INR (count r)))
    with (INR p * (x / M - 1) + (total r / M - INR (count r))) by (field; lra).
  rewrite exp_plus.
  replace (M ^ p * M ^ count r * (exp (INR p * (x / M - 1)) * exp (total r / M - INR (count r))))
    with ((M ^ p * exp (INR p * (x / M - 1))) * (M ^ count r * exp (total r / M - INR (count r)))) by ring.
  apply Rmult_le_compat; tauto.
Qed.

Lemma total_nonneg : forall l, none_negative l -> 0 <= total l.
Proof.
induction l as [|[p x] r IH]; intros H; [apply Rle_refl | ]. destruct H as [Hx Hr].
apply Rplus_le_le_0_compat; [apply Rmult_le_pos; [apply pos_INR | exact Hx] | now apply IH].
Qed.

Lemma amgm_step : forall l y, none_negative l -> (0 < count l)%nat -> 0 <= y -> y ^ count l <= product l ->
  INR (count l) * y <= total l.
Proof.
intros l y H N Hy P. apply lt_0_INR in N as N'. apply Rnot_lt_le. intros L.
assert (T := total_nonneg l H). set (n := INR (count l)) in *.
assert (Q : total l / n < y) by (apply (Rmult_lt_reg_l n); [exact N' | field_simplify; lra]).
assert (0 <= total l / n) by (apply Rmult_le_pos; [exact T | left; now apply Rinv_0_lt_compat]).
set (M := (total l / n + y) / 2).
assert (HM : 0 < M < y) by (unfold M; lra).
assert (B := product_below l M (proj1 HM) H). fold n in B.
assert (E : exp (total l / M - n) <= 1).
{ rewrite <- exp_0. apply Rlt_le, exp_increasing, (Rmult_lt_reg_l M); [lra | ].
  replace (M * (total l / M - n)) with (n * (total l / n - M)) by (field; lra).
  rewrite Rmult_0_r. assert (0 < n * (M - total l / n)); [apply Rmult_lt_0_compat; unfold M; lra | ].
  rewrite Rmult_minus_distr_l in *. lra. }
assert (M ^ count l < y ^ count l).
{ destruct (count l) as [|k]; [inversion N | ]. cbn [pow].
  apply Rle_lt_trans with (M * y ^ k).
  - apply Rmult_le_compat_l; [lra | apply pow_incr; lra].
  - apply Rmult_lt_compat_r; [apply pow_lt | ]; lra. }
assert (0 < M ^ count l) by (apply pow_lt; lra).
assert (M ^ count l * exp (total l / M - n) <= M ^ count l * 1) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* Logarithms: n f = ln A - ln B with A >= B > 0. *)
Lemma logs_step : forall n A B f, 0 < n -> 0 < B -> 0 <= A - B -> n * f = ln A - ln B -> 0 <= f.
Proof.
intros n A B f N P L E. apply (Rmult_le_reg_l n); [exact N | ]. rewrite Rmult_0_r, E.
destruct (Req_dec A B) as [->|D]; [lra | ]. assert (ln B < ln A) by (apply ln_increasing; lra). lra.
Qed.

(* A kink is one of its arguments. *)
Ltac kinks := unfold Rmax, Rmin, Rabs in *;
  repeat (match goal with
    | |- context [Rle_dec ?a ?b] => destruct (Rle_dec a b)
    | |- context [Rcase_abs ?a] => destruct (Rcase_abs a)
    | H : context [Rle_dec ?a ?b] |- _ => destruct (Rle_dec a b)
    | H : context [Rcase_abs ?a] |- _ => destruct (Rcase_abs a)
    end; try (exfalso; lra)); lra.

(* Premises of a lemma: ranges of letters, and conditions. *)
Ltac premise := try assumption; first [split; lra | lra].

(* What a function of a number is. *)
Ltac at_numbers := first [reflexivity | apply exp_0 | apply ln_1 | apply sqrt_1 | apply sqrt_0 | apply sin_0 | apply cos_0
  | apply atan_0 | apply Rabs_R0 | apply sqrt_lem_1; lra | rewrite !sqrt_mult by lra; ring | kinks].

Lemma cosine_squared : forall x, cos x ^ 2 = 1 - sin x ^ 2.
Proof. intro x. assert (E := sin2_cos2 x). unfold Rsqr in E. lra. Qed.

(* ln of a product of powers, which are > 0. *)
Ltac logarithms := repeat first [rewrite ln_exp | rewrite ln_1 | rewrite ln_pow by positive | rewrite ln_mult by positive];
  cbn [INR]; ring.

(* exp(u) as a product of powers of others. *)
Ltac exponents := rewrite ?exp_pow, <- ?exp_Ropp, <- ?exp_plus; cbn [INR]; first [f_equal; first [ring | field] | idtac].

(* Functions that the library Interval does not have. *)
Lemma sinh_by_exp : forall x, sinh x = 1/2 * (exp x - exp ((-1) * x)).
Proof. intro x. unfold sinh. replace ((-1) * x) with (- x) by ring. field. Qed.

Lemma cosh_by_exp : forall x, cosh x = 1/2 * (exp x + exp ((-1) * x)).
Proof. intro x. unfold cosh. replace ((-1) * x) with (- x) by ring. field. Qed.

Lemma tanh_by_exp : forall x, tanh x = 1 - 2 / (1 + exp (2 * x)).
Proof.
intro x. unfold tanh, sinh, cosh. replace (2 * x) with (x + x) by ring. rewrite exp_plus, exp_Ropp.
assert (0 < exp x) by apply exp_pos. field. split; nra.
Qed.

Lemma Rmax_by_Rabs : forall x y, Rmax x y = (x + y + Rabs (x - y)) / 2.
Proof. intros. unfold Rmax, Rabs. destruct (Rle_dec x y), (Rcase_abs (x - y)); lra. Qed.

Lemma Rmin_by_Rabs : forall x y, Rmin x y = (x + y - Rabs (x - y)) / 2.
Proof. intros. unfold Rmin, Rabs. destruct (Rle_dec x y), (Rcase_abs (x - y)); lra. Qed.
