"""A claim, what it is held against, and the verdict: one shape for numbers and sentences.

`data/published/<id>.json` has what a paper prints, draws or says of a table or figure: "claims" are
its sentences and those that we ask, with the rule that each is judged by; "numbers" and "sentences"
hold what is common to all.  The function <id> in the `claims.py` of a paper's folder judges them.
"""

import importlib
import pkgutil
from dataclasses import dataclass
from pathlib import Path

import fspca_reproduction
from fspca_reproduction.results import published, published_ids
from fspca_reproduction.verdict import holds, over_readings


@dataclass(frozen=True)
class Claim:
    """What a paper says, or what we ask of it, and how it is judged."""

    id: str  # of the table or figure, then the claim's own: "tan2019_figure_3/power"
    text: str  # a sentence, or the place of a number: "A/soap/random/IR"
    whose: str  # "paper", or "us": what we ask is not counted
    rule: str
    tolerance: object = None
    reason: str = ""  # what is known of a difference
    assumption: str = ""  # what our number takes for granted where the paper is silent


@dataclass(frozen=True)
class Judged:
    """A claim with what the paper says, our number and the verdict; of a number also its place."""

    claim: Claim
    said: object
    ours: object
    verdict: str
    place: dict | None = None
    open: str = ""  # what the paper leaves open under an under-specified number
    more: dict | None = None  # what else is known: "values" under other assumptions, a cell's z

    @property
    def key(self):
        """The sentence's key in `data/published`."""
        return self.claim.id.split("/")[1]

    @property
    def text(self):
        return self.claim.text


class Said:
    """What a paper says of a table or figure; judges make claims of it."""

    def __init__(self, name):
        self.name, self.data = name, published(name)

    def __getitem__(self, key):
        return self.data[key]

    def sentence(self, key, verdict, ours=None, tolerance=None, why="", values=None, **words):
        """Return the sentence of that key, judged; `words` fill its text, `why` adds a reason."""
        told = {"whose": "paper"} | self.data.get("sentences", {}) | self["claims"][key]
        text = told["text"].format(**words) if words else told["text"]
        claim = Claim(
            "/".join(map(str, (self.name, key, *words.values()))), text, told["whose"],
            told["rule"], told.get("tolerance", tolerance),
            " ".join(filter(None, (told.get("reason"), why))), told.get("assumption", ""),
        )  # fmt: skip
        said = told.get("value", "so it says") if claim.whose == "paper" else None
        verdict = verdict if isinstance(verdict, str) else holds(verdict)
        return Judged(claim, said, ours, verdict, open=why, more={"values": values})

    def over_readings(self, found, why=None):
        """Yield sentences by key, each from its (verdict, number) by assumption, and a reason."""
        for key, by_name in found.items():
            verdicts, numbers = zip(*by_name.values(), strict=True)
            values = dict(zip(by_name, verdicts, strict=True))
            yield self.sentence(key, over_readings(verdicts), numbers[0],
                                why=why(key) if why else "", values=values)  # fmt: skip

    def number(self, place, said, ours, verdict, open="", more=None, **own):
        """Return a number, judged; `place` is a dict, `own` the claim's rule, reason, ..."""
        common = self.data.get("numbers", {})
        known = ("rule", "tolerance", "reason", "assumption")
        fields = {key: common[key] for key in known if key in common}
        reasons = [common["reasons"][x] for x in place.values() if x in common.get("reasons", {})]
        fields |= {"reason": reasons[0]} if reasons else {}
        text = "/".join(map(str, place.values()))
        claim = Claim(f"{self.name}/{text}", text, "paper", **fields | own)
        return Judged(claim, said, ours, verdict, place, open, more)


def papers():
    """Return the papers' folders: those with claims, the newest paper first."""
    folders = pkgutil.iter_modules(fspca_reproduction.__path__)
    found = [f.name for f in folders if (Path(f.module_finder.path, f.name) / "claims.py").exists()]
    return sorted(found, key=lambda name: name[-4:], reverse=True)


def judges():
    """Return the function that judges each id, paper by paper, as they stand in their files."""
    ids, found = set(published_ids()), {}
    for paper in papers():
        module = importlib.import_module(f"fspca_reproduction.{paper}.claims")
        found |= {name: function for name, function in vars(module).items() if name in ids}
    return found


def judged(name):
    """Return the claims of a table or figure with their verdicts."""
    return list(judges()[name](Said(name)))


def sentences(name):
    """Return those that are sentences."""
    return [each for each in judged(name) if each.place is None]


def counts(found):
    """Return how often each verdict was given."""
    names = sorted(each.verdict for each in found)
    return {name: names.count(name) for name in names}
