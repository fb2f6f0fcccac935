// The live figures: each computes with the kernel what it draws, as its sliders say.
"use strict";
(() => {
  const { range, sum } = kernel;
  const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"];
  const W = 600;
  const H = 250;
  const tag = (name, given, inside = "") =>
    `<${name} ${Object.entries(given).map(([key, v]) => `${key}="${v}"`).join(" ")}>${inside}</${name}>`;
  const text = (x, y, words, more = {}) => tag("text", { x, y, ...more }, words);
  const line = (x1, y1, x2, y2, more = {}) => tag("line", { x1, y1, x2, y2, ...more });
  const round = (x, digits = 4) => Number(x.toPrecision(digits)).toString();

  // A curve through points, scaled into the frame; `dash` tells curves apart without colour.
  function frame(xs, low, high) {
    const [left, right, top, bottom] = [46, W - 96, 14, H - 34];
    const X = (x) => left + ((right - left) * (x - xs[0])) / (xs.at(-1) - xs[0] || 1);
    const Y = (y) => bottom - ((bottom - top) * (y - low)) / (high - low || 1);
    const axes =
      line(left, bottom, right, bottom, { class: "axis" }) +
      line(left, bottom, left, top, { class: "axis" }) +
      text(left - 6, Y(low), round(low, 3), { "text-anchor": "end" }) +
      text(left - 6, Y(high) + 8, round(high, 3), { "text-anchor": "end" }) +
      text(left, H - 16, round(xs[0], 3)) +
      text(right, H - 16, round(xs.at(-1), 3), { "text-anchor": "end" });
    const curve = (ys, colour, name, dash = "") =>
      tag("polyline", {
        points: ys.map((y, i) => `${X(xs[i]).toFixed(1)},${Y(y).toFixed(1)}`).join(" "),
        fill: "none", stroke: colour, "stroke-width": 2, "stroke-dasharray": dash,
      }) + text(right + 5, Math.min(Math.max(Y(ys.at(-1)) + 4, 12), bottom), name, { fill: colour }); // prettier-ignore
    return { X, Y, axes, curve, bottom, top };
  }

  // Bars, those of a support filled; the sign of the chosen ones stands above, for all eyes.
  function bars(heights, support, colour, words) {
    const most = Math.max(...heights.map(Math.abs), 1e-300);
    const wide = (W - 40) / heights.length;
    const shapes = heights.map((h, i) => {
      const high = (150 * Math.abs(h)) / most;
      const [x, y] = [20 + i * wide, 190 - high];
      const chosen = support.includes(i);
      const look = chosen ? { fill: colour } : { fill: "none", stroke: "currentColor" };
      const sign = chosen ? text(x + wide / 2, y - 5, "●", { "text-anchor": "middle" }) : "";
      const place = { x: x + 2, y, width: wide - 6, height: Math.max(high, 0.5), class: "bar" };
      return tag("rect", { ...place, ...look }) + sign + text(x + wide / 2, 206, i, { "text-anchor": "middle" });
    });
    return shapes.join("") + text(20, 232, words);
  }

  // A covariance of d features from n samples of white noise and two hidden directions.
  function sample(seed, d, n, strength = 2) {
    const z = kernel.normal(seed);
    const X = range(n).map(() => {
      const [a, b] = [z(), z()];
      return range(d).map((j) => z() + (j % 3 === 0 ? a : j % 3 === 1 ? b : 0) * Math.sqrt(strength));
    });
    const mean = range(d).map((j) => sum(X.map((row) => row[j])) / n);
    return range(d).map((i) =>
      range(d).map((j) => sum(X.map((row) => (row[i] - mean[i]) * (row[j] - mean[j]))) / (n - 1)),
    );
  }

  // Each figure: a title, its sliders (name: [least, most, step, start]), and what it draws.
  const FIGURES = {
    pca: {
      title: "PCA loses a direction as features are added; ten chosen features keep it",
      sliders: { features: [10, 300, 10, 100], strength: [1, 12, 0.5, 6], draw: [1, 20, 1, 1] },
      show({ features, strength, draw }) {
        const z = kernel.normal(draw);
        const n = 30;
        const most = 300;
        const u = range(n).map(z);
        const X = u.map((a) => range(most).map((j) => z() + (j < 10 ? a * Math.sqrt(strength / 10) : 0)));
        const overlap = (support) => {
          const rows = X.map((row) => support.map((j) => row[j]));
          const { vectors } = kernel.eigen(rows.map((a) => rows.map((b) => kernel.dot(a, b))));
          const v = support.map((_, j) => sum(rows.map((row, i) => row[j] * vectors[0][i])));
          const hit = sum(v.filter((_, j) => support[j] < 10));
          return Math.abs(hit) / Math.hypot(...v) / Math.sqrt(10);
        };
        const chosen = (d) => {
          let support = kernel.largest(range(d).map((j) => sum(X.map((row) => row[j] ** 2))), 10);
          for (let step = 0; step < 20; step++) {
            const rows = X.map((row) => support.map((j) => row[j]));
            const top = kernel.eigen(rows.map((a) => rows.map((b) => kernel.dot(a, b)))).vectors[0];
            const score = range(d).map((j) => sum(X.map((row, i) => row[j] * top[i])) ** 2);
            const next = kernel.largest(score, 10);
            if (next.join() === support.join()) break;
            support = next;
          }
          return support;
        };
        const ds = [10, 30, 60, 100, 150, 200, 300];
        const [dense, sparse] = [ds.map((d) => overlap(range(d))), ds.map((d) => overlap(chosen(d)))];
        const { X: x, axes, curve, top, bottom } = frame(ds, 0, 1);
        const here = overlap(range(features));
        return {
          picture: axes + curve(dense, COLOURS[3], "PCA", "6 3") + curve(sparse, COLOURS[1], "IPU, k = 10") +
            line(x(features), top, x(features), bottom, { class: "axis", "stroke-dasharray": "2 3" }) +
            text(W / 2, H - 4, "features", { "text-anchor": "middle" }),
          words: `With ${features} features PCA's direction overlaps the true one by ${round(here, 3)}.`,
        }; // prettier-ignore
      },
    },
    ipu: {
      title: "IPU climbs from Go: the proxy's bars choose the next support",
      sliders: { m: [1, 4, 1, 2], k: [2, 8, 1, 4], step: [0, 8, 1, 0], feature: [0, 9, 1, 2],
                 stretch: [0.2, 3, 0.1, 1], draw: [1, 40, 1, 7] }, // prettier-ignore
      show({ m, k, step, feature, stretch, draw }) {
        const A = sample(draw, 10, 15);
        range(10).forEach((j) => ((A[feature][j] *= stretch), (A[j][feature] *= stretch)));
        k = Math.max(k, m);
        const first = kernel.go(A, m, k);
        const steps = kernel.ipu(A, m, k, first.support);
        const at = steps[Math.min(step, steps.length - 1)];
        const best = kernel.exhaustive(A, m, k);
        const score = at.score ?? first.score;
        const what = at.score ? `step ${steps.indexOf(at)} of IPU` : "Go";
        return {
          picture: bars(score, at.support, COLOURS[1], `scores of ${what}; filled bars are chosen`),
          words: `Go ${round(first.value)}, IPU ${round(steps.at(-1).value)} after ${steps.length - 1} ` +
            `steps, optimum ${round(best.value)} on features ${best.support.join(", ")}. ` +
            (best.value > steps.at(-1).value * (1 + 1e-9) ? "IPU stopped below it." : "IPU found it."),
        }; // prettier-ignore
      },
    },
    bound: {
      title: "A bound for every level: where it is least, the gap is least",
      sliders: { m: [1, 4, 1, 2], k: [2, 8, 1, 4], level: [0, 1, 0.02, 0], draw: [1, 40, 1, 3] },
      show({ m, k, level, draw }) {
        const A = sample(draw, 10, 25, 4);
        k = Math.max(k, m);
        const top = kernel.eigen(A).values[0];
        const best = kernel.exhaustive(A, m, k).value;
        const levels = range(51).map((i) => (i / 50) * top);
        const bounds = levels.map((sigma) => kernel.bound(A, m, k, sigma));
        const here = kernel.bound(A, m, k, level * top);
        const least = Math.min(...bounds);
        const { X, Y, axes, curve } = frame(levels, 0.9 * best, Math.max(...bounds));
        return {
          picture: axes + curve(bounds, COLOURS[0], "bound") +
            curve(levels.map(() => best), "currentColor", "optimum", "5 4") +
            tag("circle", { cx: X(level * top), cy: Y(here), r: 5, fill: COLOURS[1] }) +
            text(W / 2, H - 4, "level above which variance is counted feature by feature", { "text-anchor": "middle" }),
          words: `Here no choice explains more than ${round(here)}: ${round(100 * (here / best - 1), 3)} % ` +
            `above the optimum ${round(best)}; the least of all levels is ${round(100 * (least / best - 1), 3)} % above.`,
        }; // prettier-ignore
      },
    },
    spannogram: {
      title: "The spannogram turns: at each angle the largest positive curves are chosen",
      sliders: { angle: [0, 360, 1, 30], k: [1, 6, 1, 3], draw: [1, 40, 1, 2] },
      show({ angle, k, draw }) {
        const z = kernel.normal(draw);
        const V = range(8).map(() => [1.3 * z(), z()]);
        const angles = range(361);
        const turned = angles.map((a) => kernel.atAngle(V, k, (a * Math.PI) / 180));
        const at = turned[angle];
        const best = turned.reduce((a, b) => (b.value > a.value ? b : a));
        const most = Math.max(...turned.flatMap((t) => t.z));
        const { X, Y, axes, bottom, top } = frame(angles, 0, most);
        const curves = V.map((_, i) =>
          tag("polyline", {
            points: angles.map((a) => `${X(a).toFixed(1)},${Y(Math.max(turned[a].z[i], 0)).toFixed(1)}`).join(" "),
            fill: "none", stroke: at.support.includes(i) ? COLOURS[1] : "currentColor",
            "stroke-width": at.support.includes(i) ? 3 : 1, "stroke-opacity": at.support.includes(i) ? 1 : 0.5,
          })); // prettier-ignore
        return {
          picture: axes + curves.join("") + line(X(angle), top, X(angle), bottom, { class: "axis" }) +
            text(W / 2, H - 4, "angle", { "text-anchor": "middle" }),
          words: `At ${angle} degrees the features ${at.support.join(", ") || "none"} are chosen, which ` +
            `explain ${round(at.value)}; the best of all angles is ${round(best.value)}, on ${best.support.join(", ")}.`,
        }; // prettier-ignore
      },
    },
    gpower: {
      title: "A threshold moves: features fall out, and variance with them",
      sliders: { threshold: [0, 0.95, 0.01, 0.2], draw: [1, 40, 1, 4] },
      show({ threshold, draw }) {
        const A = sample(draw, 12, 20, 3);
        const most = Math.sqrt(Math.max(...A.map((row, i) => row[i])));
        const found = kernel.gpower(A, threshold * most) ?? { support: [], value: 0, z: A.map(() => 0) };
        const whole = kernel.eigen(A).values[0];
        return {
          picture: bars(found.z, found.support, COLOURS[2], "moduli before the threshold; filled bars stay"),
          words: `${found.support.length} of 12 features stay, and explain, refitted, ` +
            `${round((100 * found.value) / whole, 3)} % of what the first component of PCA explains.`,
        }; // prettier-ignore
      },
    },
    sadmm: {
      title: "Two copies: one stays on the sphere, one stays sparse, and they meet",
      sliders: { step: [1, 60, 1, 1], penalty: [0, 1.5, 0.05, 0.4], rho: [1, 20, 0.5, 6], draw: [1, 40, 1, 5] },
      show({ step, penalty, rho, draw }) {
        const A = sample(draw, 12, 20, 3);
        const steps = kernel.twoCopies(A, penalty, rho * Math.max(kernel.eigen(A).values[0] / 4, 1e-9), 60);
        const at = steps[step - 1];
        const apart = steps.map((s) => s.apart);
        const { X, Y, axes, curve } = frame(range(60).map((t) => t + 1), 0, Math.max(...apart, 1e-12));
        const support = range(12).filter((i) => at.w[i] !== 0);
        return {
          picture: axes + curve(apart, COLOURS[0], "apart") +
            tag("circle", { cx: X(step), cy: Y(at.apart), r: 5, fill: COLOURS[1] }) +
            text(W / 2, H - 4, "step", { "text-anchor": "middle" }),
          words: `After ${step} steps the copies are ${round(at.apart, 3)} apart; the sparse one has ` +
            `${support.length} nonzeros: ${support.join(", ")}.`,
        }; // prettier-ignore
      },
    },
  };

  function mount(place) {
    const figure = FIGURES[place.dataset.live];
    const state = {};
    const knobs = Object.entries(figure.sliders).map(([name, [min, max, step, start]]) => {
      state[name] = start;
      return `<label>${name} <output>${start}</output><input type="range" name="${name}" min="${min}"
        max="${max}" step="${step}" value="${start}"></label>`;
    });
    place.innerHTML =
      `<p class="live-title">${figure.title}</p><svg viewBox="0 0 ${W} ${H}" role="img"
      aria-label="${figure.title}"></svg><p class="live-words" aria-live="polite"></p>
      <form class="live-knobs">${knobs.join("")}</form>`;
    const draw = () => {
      const { picture, words } = figure.show({ ...state });
      place.querySelector("svg").innerHTML = picture;
      place.querySelector(".live-words").textContent = words;
    };
    place.addEventListener("input", ({ target }) => {
      state[target.name] = Number(target.value);
      target.previousElementSibling.textContent = target.value;
      draw();
    });
    draw();
  }
  const start = () => document.querySelectorAll("[data-live]").forEach(mount);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
