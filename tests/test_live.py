"""The live figures compute what the module computes, and move when their sliders do."""

import html
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
import toc

from fspca import exhaustive, go, ipu, upper_bound
from fspca.covariance.linalg import largest
from fspca.separate_supports import gpower

LIVE = toc.ROOT / "book" / "static" / "live"
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
OURS = ("kernel.js", "figures.js")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium here: the figures are not run")


def browse(script):
    """Return what a script leaves in the page's <pre>, as JSON, after our scripts have run."""
    tags = "".join(
        f"<script>{(LIVE / name).read_text()}</script>" for name in ("ml-matrix.js", *OURS)
    )
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(
            f'<!doctype html><meta charset="utf-8">{SCENE}<pre></pre>{tags}<script>'
            f"document.querySelector('pre').textContent = JSON.stringify((() => {{{script}}})())"
            "</script>"
        )
        command = [
            BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", f"--user-data-dir={folder}/profile", "--dump-dom", page.as_uri(),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    found = re.search(r"<pre>(.*?)</pre>", done.stdout, re.DOTALL)[1]
    assert found, done.stderr[-2000:]
    return json.loads(html.unescape(found))


NAMES = ("pca", "ipu", "bound", "spannogram", "gpower", "sadmm")
SCENE = "".join(f'<figure class="live" data-live="{name}"></figure>' for name in NAMES)


def instances(count):
    """Return covariances of 4 to 9 features from as many or fewer samples, with m and k."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(4, 10))
        X = rng.standard_normal((int(rng.integers(2, 2 * d)), d)) * rng.uniform(0.5, 2, d)
        m = int(rng.integers(1, 4))
        yield X.T @ X, m, int(rng.integers(m, d + 1))


def test_our_part_is_small():
    assert sum((LIVE / name).stat().st_size for name in OURS) < 30_000


def test_a_thousand_instances_have_the_module_s_answers():
    asked = [(A, m, k) for A, m, k in instances(1000)]
    given = json.dumps([(A.tolist(), m, k) for A, m, k in asked])
    rows = browse(f"""return {given}.map(([A, m, k]) => {{
        const first = kernel.go(A, m, k), last = kernel.ipu(A, m, k, first.support).at(-1);
        const best = kernel.exhaustive(A, m, k), top = kernel.eigen(A).values;
        return [first.support, first.value, last.support, last.value, best.support, best.value,
                kernel.bound(A, m, k, top[m] ?? 0)];
    }});""")
    for (A, m, k), row in zip(asked, rows, strict=True):
        ours = [go(A, m, k), ipu(A, m, k), exhaustive(A, m, k)]
        for i, solution in enumerate(ours):
            assert row[2 * i + 1] == pytest.approx(solution.objective, rel=1e-9)
            assert row[2 * i] == solution.support.tolist()
        assert row[6] >= ours[2].objective * (1 - 1e-9)
        assert row[6] == pytest.approx(upper_bound(A, m, k, method="shifted").bound, rel=1e-9)


def test_ties_go_to_the_smaller_index_there_too():
    rng = np.random.default_rng(0)
    scores = [rng.integers(0, 4, 9) + 1e-14 * rng.random(9) for _ in range(200)]
    given = json.dumps([score.tolist() for score in scores])
    assert browse(f"return {given}.map((s) => kernel.largest(s, 4));") == [
        largest(score, 4).tolist() for score in scores
    ]


def test_the_angle_and_the_threshold_are_those_of_the_module():
    rng = np.random.default_rng(1)
    V = rng.standard_normal((7, 2))
    angles = rng.uniform(0, 7, 50)
    rows = browse(f"return {angles.tolist()}.map((a) => kernel.atAngle({V.tolist()}, 3, a));")
    for angle, row in zip(angles, rows, strict=True):
        z = V @ [np.cos(angle), np.sin(angle)]
        chosen = [i for i in np.argsort(-z)[:3] if z[i] > 0]
        assert row["support"] == sorted(chosen)
        assert row["value"] == pytest.approx(np.sum(z[chosen] ** 2))
    covariances = [A for A, _, _ in instances(60)]
    given = json.dumps([A.tolist() for A in covariances])
    rows = browse(f"return {given}.map((A) => kernel.gpower(A, 0.3 * Math.sqrt(A[0][0])));")
    for A, row in zip(covariances, rows, strict=True):
        solution = gpower(A, 1, penalty=0.3 * np.sqrt(A[0, 0] / A.diagonal().max()))
        assert row["support"] == np.flatnonzero(solution.W[:, 0]).tolist()
        assert row["value"] == pytest.approx(solution.objective, rel=1e-9)


def test_the_two_copies_meet_and_the_sphere_is_kept():
    given = json.dumps([A.tolist() for A, _, _ in instances(40)])
    for steps in browse(f"return {given}.map((A) => kernel.twoCopies(A, 0.1, 2 * A[0][0], 300));"):
        assert np.linalg.norm(steps[-1]["v"]) == pytest.approx(1)
        assert steps[-1]["apart"] < max(1e-3, 0.2 * steps[0]["apart"])


def test_every_slider_moves_its_figure():
    moved = browse("""return [...document.querySelectorAll("[data-live]")].map((place) => {
        const seen = () => place.querySelector("svg").innerHTML + place.innerText;
        return [place.dataset.live, [...place.querySelectorAll("input")].map((knob) => {
            const before = seen();
            knob.value = knob.value === knob.max ? knob.min : knob.max;
            knob.dispatchEvent(new Event("input", { bubbles: true }));
            return [knob.name, seen() !== before, /NaN|undefined|Infinity/.test(seen())];
        })];
    });""")
    assert [name for name, _ in moved] == list(NAMES)
    for name, knobs in moved:
        for knob, changed, broken in knobs:
            assert changed, (name, knob)
            assert not broken, (name, knob)
