"""Gap: components that stand apart from the next ones, for any covariance of the noise.

The eigenvalues of noise with a smooth covariance are close together, while those of strong components stand apart. k is
the last place at which the ratio l_k / l_(k+1) of neighbours is large (Ahn and Horenstein, 2013, take the largest
ratio; Onatski, 2010, the last large difference). Large is at least 2.2, and more than

- l_1 / l_2 of white noise of rows - k + 1 by columns - k + 1 reaches in 99 % of draws, which matters for few rows;
- 1.5 times the mean ratio of m = columns - k + 1 eigenvalues that range over a factor of 9, 9^(1 / (m - 1)), as those
  of columns with correlations of 0.5^|i - j| do, which matters for few columns.

Weak components do not stand apart. If no component does, components count while each explains more of the residual than
the largest direction of noise with correlations of 0.5^|i - j| (see `smooth_noise`).
"""

from __future__ import annotations

import numpy as np

from eckart.formatting import counted
from eckart.rank.evidence import Evidence
from eckart.rank.smooth_noise import above_smooth_noise
from eckart.rank.white import white_ratio

_RATIO = 2.2
_RANGE, _FACTOR = 9.0, 1.5
_FEWEST = 4


def by_gap(e: Evidence) -> tuple[int | None, str]:
    """The last component that stands apart from the next, or from noise with smooth correlations."""
    known = min(e.short, len(e.ratios))
    if known < _FEWEST:
        return None, (
            f"This rule compares successive components and needs at least {_FEWEST}, but only {known} are known."
        )
    most = e.options.most or e.short
    ratios = e.ratios[:-1] / np.maximum(e.ratios[1:], 1e-300)
    for k in e.falls(_RATIO)[::-1].tolist():
        smooth = _FACTOR * _RANGE ** (1.0 / max(e.short - k, 1))
        limit = max(_RATIO, smooth, white_ratio(e.free_rows - k + 1, e.columns - k + 1, e.options.level))
        if k > most:
            return (
                None,
                (
                    f"Component {k} is clearly larger than the next, but the rule considered only "
                    f"{counted(most, 'component')}. There may be more."
                ),
            )
        if ratios[k - 1] > limit:
            apart = f"Component {k} explains {ratios[k - 1]:.3g} times as much as the next"
            return k, f"{apart}; in pure noise, this ratio rarely exceeds {limit:.3g}."
    if above := above_smooth_noise(e, min(most, e.short)):
        return above, (
            f"{counted(above, 'component explains', 'components explain')} more than noise would, "
            "even with a correlation of 0.5 between neighbouring columns."
        )
    largest = float(ratios[: max(3 * e.short // 4, 1)].max())
    return 0, f"No component explains more than {largest:.3g} times as much as the next."
