"""The strong Wolfe line search: bracket, then zoom."""

from fspca.covariance.linalg import EPS

TRIALS = 40  # of one search; zoom leaves at most nine tenths of its bracket each time


def strong_wolfe(along, value, slope, t, c1, c2):
    """Return a step t with its value and slope that meets both conditions, or None.

    The step is doubled until an interval holds one, then the interval is narrowed (bracket and
    zoom).  Values are compared up to the rounding of f, beyond which no search can see.
    """
    low, high, slack = (0.0, value, slope), None, 8 * EPS * abs(value)
    for _ in range(TRIALS):
        f, s = along(t)
        if f > value + c1 * t * slope + slack or (low[0] > 0 and f > low[1] + slack):
            high = (t, f, s)
        elif abs(s) <= -c2 * slope:
            return t, f, s
        else:
            if s * (high[0] - low[0] if high else 1.0) >= 0:
                high = low
            low = (t, f, s)
        t = _between(low, high) if high else 2 * t
    return None


def _between(low, high):
    """Return where the slope should vanish: by the secant of slopes, else by a parabola."""
    width = high[0] - low[0]
    if low[2] * high[2] < 0:
        part = low[2] / (low[2] - high[2])
    else:
        bend = high[1] - low[1] - low[2] * width
        part = -low[2] * width / (2 * bend) if bend > 0 else 0.5
    return low[0] + min(max(part, 0.1), 0.9) * width
