"""Draw the bar of the cover: how much of the papers came out, from the ledger.

python book/tools/cover_bar.py
"""

import csv
from collections import Counter
from pathlib import Path

STATIC = Path(__file__).parents[1] / "static"
BAR = STATIC / "how_much.svg"
# A verdict has a colour, and a sign for those who do not see it.
LOOK = {
    "reproduced": ("#0072B2", "="),
    "within sampling error": ("#56B4E9", "\u2248"),
    "differs": ("#D55E00", "\u2260"),
    "under-specified": ("#999999", "?"),
    "not to be had": ("#DDDDDD", "\u2013"),
}
PAPERS = ("tian2020", "tan2019", "asteris2014")
LEFT, WIDTH, HIGH, STEP = 96, 548, 22, 34


def counts():
    """Return, for each paper, how many of its numbers and sentences got each verdict."""
    found = {paper: Counter() for paper in PAPERS}
    with (STATIC / "ledger.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            paper = row["id"].split("_")[0]
            if paper in found and row["verdict"] in LOOK:
                found[paper][row["verdict"]] += 1
    return found


def draw():
    """Return the bar: a line for each paper, in parts of its rows."""
    parts = []
    for i, (paper, verdicts) in enumerate(counts().items()):
        x, y, total = float(LEFT), 8 + STEP * i, sum(verdicts.values())
        middle = f'y="{y + 16}" font-size="13"'
        parts.append(f'<text x="4" {middle}>{paper}</text>')
        for verdict, (colour, sign) in LOOK.items():
            wide = WIDTH * verdicts[verdict] / total
            if wide:
                place = f'x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{HIGH}"'
                parts.append(f'<rect {place} fill="{colour}" stroke="#fff"/>')
            if wide > 34:
                ink = "#fff" if colour in ("#0072B2",) else "#000"
                text = f"{sign} {verdicts[verdict]}"
                parts.append(f'<text x="{x + 5:.1f}" {middle} fill="{ink}">{text}</text>')
            x += wide
    x, y = 4.0, 8 + STEP * len(PAPERS)
    for verdict, (colour, sign) in LOOK.items():
        parts.append(f'<rect x="{x}" y="{y + 2}" width="11" height="11" fill="{colour}"/>')
        text = f"{sign} {verdict}"
        parts.append(f'<text x="{x + 16}" y="{y + 12}" font-size="12">{text}</text>')
        x += 30 + 6.6 * len(text)
    high = y + 22
    size = f'viewBox="0 0 650 {high}" font-family="sans-serif" role="img"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    ground = f'<rect width="650" height="{high}" fill="#fff"/>'
    return "\n".join([head, ground, *parts, "</svg>\n"])


if __name__ == "__main__":
    BAR.write_text(draw())
