"""
Weights on a simplex, and on a budget: synthetic control
========================================================

What would have happened to one region without the law that it passed? Synthetic control answers with a weighted mean
of other regions that followed it until then. The weights are not negative and sum to one, so that the answer
interpolates.
"""

import matplotlib.pyplot as plt
import numpy as np

import epro
from epro import constraints, losses

rng = np.random.default_rng(3)
months, law, regions = 120, 80, 30
factors = np.cumsum(rng.normal(0.02, 0.15, (months, 3)), axis=0)
donors = 5.0 + factors @ rng.gamma(1.0, 1.0, (3, regions)) + 0.15 * rng.standard_normal((months, regions))
shares = np.zeros(regions)
shares[[2, 7, 19]] = [0.5, 0.3, 0.2]
treated = donors @ shares + 0.15 * rng.standard_normal(months)
treated[law:] -= np.linspace(0.0, 1.5, months - law)  # the effect of the law

# %%
# Weights that are shares
# -----------------------

before = slice(0, law)
loss = losses.Squared(donors[before], treated[before])
result = epro.minimize(epro.Problem(loss, None, constraints.Simplex()), tol=1e-9)
weights = result.x
print(result)
print(f"sum {weights.sum():.12f}, smallest {weights.min():.1e}, not zero: {np.flatnonzero(weights > 1e-6)}")

# %%
# Without the constraint, thirty weights on eighty months fit the past better, noise included, and say less about what
# would have been.

free = np.linalg.lstsq(donors[before], treated[before], rcond=None)[0]
unchanged = treated + np.maximum(np.arange(months) - law, 0) * 1.5 / (
    months - law - 1
)  # known here, as the data are generated
for name, w in (("simplex", weights), ("free", free)):
    miss = (donors @ w - unchanged) ** 2
    print(f"{name}: error before the law {miss[before].mean() ** 0.5:.3f}, after it {miss[law:].mean() ** 0.5:.3f}")
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained", width_ratios=[2, 1])
left.plot(treated, color="black", label="the region")
left.plot(donors @ weights, color="#1f5fa8", label="simplex weights")
left.plot(donors @ free, color="#c0392b", linewidth=0.8, label="free weights", zorder=0)
left.axvline(law, color="0.5", linestyle=":")
left.set(xlabel="month", title="without the law (dotted), the region would have gone on as the blue line")
left.title.set_fontsize(10)
left.legend()
right.stem(weights, basefmt=" ")
right.plot(np.flatnonzero(shares), shares[shares > 0], "_", color="black", markersize=12)
right.set(xlabel="region", title="weights, and the true ones (bars)")
right.title.set_fontsize(10)
effect = (treated - donors @ weights)[law:]
print(
    f"effect at the end: {effect[-12:].mean():.2f}, the truth is {-np.linspace(0, 1.5, months - law)[-12:].mean():.2f}"
)

# %%
# Weights on a budget
# -------------------
#
# Suppose that data from each region has a price, and the budget is limited: a half-space beside the simplex. The
# constraint is the intersection, and the answer is feasible for both.

prices = rng.uniform(1.0, 5.0, regions)
print(f"the weights above cost {prices @ weights:.2f}")
for budget in (3.0, 2.0, 1.5):
    limited = [constraints.Simplex(), constraints.HalfSpace(prices, budget)]
    run = epro.minimize(epro.Problem(loss, None, limited), tol=1e-6)
    print(f"budget {budget}: cost {prices @ run.x:.6f}, sum {run.x.sum():.9f}, error {run.fun:.4f}, {run.status.name}")
