"""Whether two vector graphics show the same: marks and letters alike, and numbers nearly.

Other roundings move a point by less than anybody sees, and with it names made from its digits.
"""

import re

import numpy as np

SEEN = 1.0  # points; a line is drawn 1.5 wide
MADE = re.compile(r"#?\b[mp][0-9a-f]{10}\b|data:image/png;base64,[^\"]*")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def same_drawing(one, other):
    """Say whether two texts of SVG differ in nothing but numbers, and in these by SEEN at most."""
    one, other = MADE.sub("", one), MADE.sub("", other)
    if NUMBER.split(one) != NUMBER.split(other):
        return False
    moved = np.subtract(*(np.array(NUMBER.findall(text), float) for text in (one, other)))
    return bool(np.all(np.abs(moved) <= SEEN))


def drawings(outputs):
    """Return the vector graphics among a cell's outputs."""
    found = (output.get("data", {}).get("image/svg+xml") for output in outputs)
    return ["".join(each) for each in found if each]
