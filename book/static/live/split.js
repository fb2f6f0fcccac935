// A certificate splits the covariance at a level: above it features count, below it components.
"use strict";
(() => {
  const { line, percent, rect, round, scale, text } = live;
  const { m, k, best, ...covariances } = INSTANCES.split;
  const [FOOT, HIGH, STEP] = [190, 148, 0.05];
  const instance = (shown) => (shown === "flat" ? 0 : 1);
  const parts = (shown, level) => kernel.split(covariances[shown], m, k, level);
  const top = (shown) => Math.ceil(parts(shown, 0).values[0] / STEP) * STEP;
  const bound = (shown, level) => parts(shown, level).bound;
  const least = (shown) =>
    kernel.range(Math.round(top(shown) / STEP) + 1)
      .map((i) => Number((i * STEP).toFixed(2)))
      .reduce((a, b) => (bound(shown, b) < bound(shown, a) * (1 - 1e-9) ? b : a)); // prettier-ignore

  live.add("split", {
    title: "A certificate splits the variance at a level, and counts both parts",
    task: "Move the level, or drag it in the bars on the left, until the sum is least. Below flat noise it meets the optimum: at which level?",
    height: 274,
    start: { shown: "flat", level: 0 },
    presets: {
      "by features alone": { shown: "flat", level: 0 },
      "by components alone": { shown: "flat", level: top("flat") },
      "flat noise: proven": { shown: "flat", level: least("flat") },
      "noise with a shape": { shown: "shaped", level: least("shaped") },
    },
    knobs: { level: { label: "level", least: 0, most: ({ shown }) => top(shown), step: STEP } },
    drag({ shown }, x, y, width) {
      if (x > width / 2 || y > FOOT + 20) return null;
      const level = scale(FOOT, FOOT - HIGH, 0, top(shown))(y);
      return { level: Number((Math.round(level / STEP) * STEP).toFixed(2)) };
    },
    show({ shown, level }, width) {
      const split = parts(shown, level);
      const optimum = best[instance(shown)];
      return {
        picture: spectrum(split, level, width / 2 - 8, scale(0, top(shown), 0, HIGH)) +
          diagonal(split, width / 2 + 8, width / 2 - 8, scale(0, top(shown), 0, HIGH)) +
          stacked(split, optimum, width, Math.max(bound(shown, 0), bound(shown, top(shown)))),
        words: told(shown, level, split, optimum),
      }; // prettier-ignore
    },
  });

  // Eigenvalues; what lies above the level is blue, the m largest rests orange.
  function spectrum({ values }, level, width, high) {
    const wide = (width - 8) / values.length;
    const bars = values.map((value, j) => {
      const [x, rest] = [8 + j * wide + 1, high(Math.min(value, level))];
      return rect(x, FOOT - rest, wide - 3, rest, { class: j < m ? "two" : "open" }) +
        rect(x, FOOT - high(value), wide - 3, high(value) - rest, { class: "one" }); // prettier-ignore
    });
    const at = FOOT - high(level);
    return text(8, 14, "eigenvalues") + text(8, 30, "and the level") + bars.join("") +
      line(0, at, width, at, { class: "dashed", "stroke-width": 2 }) + text(8, FOOT + 16, "large to small"); // prettier-ignore
  }

  // The diagonal of the part above the level, whose k largest entries count.
  function diagonal({ diagonal: c, kept }, from, width, high) {
    const wide = (width - 8) / c.length;
    const bars = c.map((value, i) => {
      const x = from + i * wide;
      return rect(x + 1, FOOT - high(value), wide - 3, high(value), { class: kept.includes(i) ? "one" : "open" }) +
        text(x + wide / 2, FOOT + 16, i, { "text-anchor": "middle" }); // prettier-ignore
    });
    return text(from, 14, "diagonal above it,") + text(from, 30, `the ${k} largest filled`) + bars.join("") +
      line(from, FOOT, from + width - 8, FOOT, { class: "axis" }); // prettier-ignore
  }

  function stacked({ rows, rest }, optimum, width, most) {
    const x = scale(0, most, 8, width - 8);
    const side = x(optimum) > width - 70 ? "end" : "middle";
    return text(8, 226, "no choice explains more:") +
      rect(x(0), 234, x(rows) - x(0), 18, { class: "one" }) + rect(x(rows), 234, x(rows + rest) - x(rows), 18, { class: "two" }) +
      line(x(optimum), 230, x(optimum), 258, { class: "axis", "stroke-width": 3 }) +
      text(x(optimum), 270, "optimum", { "text-anchor": side }); // prettier-ignore
  }

  function told(shown, level, { rows, rest, bound: sum, values }, optimum) {
    const here = `At level ${round(level)} the ${k} largest features count ${round(rows)} and ${m} components ${round(rest)}: no choice explains more than ${round(sum)}, `;
    const above = sum / optimum - 1;
    if (above < 5e-4) return here + "and the best choice explains that. The split proves it, and no search was needed.";
    const gap = `${percent(above)} above the optimum. `;
    if (level === 0) return here + gap + "All variance is counted by features, as if they were uncorrelated.";
    if (level >= values[0]) return here + gap + "All variance is counted by components, as if every feature were chosen: this is PCA's bound.";
    const lowest = least(shown);
    if (level === lowest) return here + gap + "This is the least of all levels: noise with a shape leaves a gap, which other splits narrow.";
    return here + gap + `A ${level < lowest ? "higher" : "lower"} level counts less.`;
  } // prettier-ignore
})();
