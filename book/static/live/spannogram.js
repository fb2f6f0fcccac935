// The spannogram: the chosen set changes only where curves cross, so few sets must be tried.
"use strict";
(() => {
  const { circle, curve, features, line, listed, percent, round, scale, text } = live;
  const { k, ...loadings } = INSTANCES.turning;
  const FULL = 2 * Math.PI;
  const [FOOT, TOP, BOTTOM] = [160, 194, 250];
  const radians = (angle) => (angle * Math.PI) / 180;
  const degrees = (angle) => Math.round((angle * 180) / Math.PI + 360) % 360;
  const all = (shown, count) => kernel.cells(loadings[shown], count);
  const bestOf = (cells) => cells.reduce((a, b) => (b.value > a.value ? b : a));
  const within = ({ from, to }, angle) => [-FULL, 0, FULL].some((turn) => from <= angle + turn && angle + turn < to);
  const toward = ([a, b]) => degrees(Math.atan2(b, a));
  const longest = loadings.short.reduce((v, w) => (Math.hypot(...w) > Math.hypot(...v) ? w : v)); // prettier-ignore
  const at = (width) => scale(0, 360, 12, width - 12);

  live.add("spannogram", {
    title: "The spannogram: turn the angle, and sets change only where curves cross",
    task: "Turn the angle, or drag over the curves, until the value below is largest. Does the best set hold the longest curve?",
    height: 288,
    start: { shown: "short", angle: toward(longest), k },
    presets: {
      "toward the longest": { angle: toward(longest) },
      "the best angle": { angle: degrees(bestOf(all("short", k)).angle) },
      "fewer than three are best": { shown: "few", angle: degrees(bestOf(all("few", k)).angle) },
    },
    knobs: {
      angle: { label: "angle", least: 0, most: 359, step: 1, says: (x) => `${x}°` },
      k: { label: "features k", least: 1, most: 6, step: 1 },
    },
    drag(_, x, y, width) {
      const angle = Math.round(scale(12, width - 12, 0, 360)(x));
      return { angle: Math.min(Math.max(angle, 0), 359) };
    },
    show({ shown, angle, k: count }, width) {
      const V = loadings[shown];
      const turned = kernel.range(181).map((i) => ({ angle: 2 * i, ...kernel.atAngle(V, count, radians(2 * i)) }));
      const here = kernel.atAngle(V, count, radians(angle));
      const cells = all(shown, count);
      return {
        picture: curves(V, turned, here, angle, width) + below(turned, cells, here, angle, width),
        words: told(V.length, cells, here, angle, count),
      }; // prettier-ignore
    },
  });

  function curves(V, turned, here, angle, width) {
    const x = at(width);
    const most = Math.max(...V.map((v) => Math.hypot(...v)));
    const y = scale(0, most, FOOT, 34);
    const drawn = V.map((_, i) => {
      const points = turned.map(({ angle: a, z }) => [x(a), y(Math.max(z[i], 0))]);
      const chosen = here.support.includes(i);
      return curve(points, chosen ? { class: "two-line", "stroke-width": 3 } : { class: "faint" });
    });
    const names = here.support.map((i) => circle(x(angle), y(here.z[i]), 4, { class: "two" }) +
      text(x(angle) + (angle > 330 ? -14 : 7), y(here.z[i]) - 4, i, { class: "strong" })); // prettier-ignore
    return text(12, 12, "a curve for each feature; bold: chosen") + drawn.join("") + names.join("") +
      line(12, FOOT, width - 12, FOOT, { class: "axis" }) + line(x(angle), 20, x(angle), BOTTOM, { class: "axis" }); // prettier-ignore
  }

  function below(turned, cells, here, angle, width) {
    const x = at(width);
    const best = bestOf(cells);
    const y = scale(0, best.value, BOTTOM, TOP);
    const ticks = cells.map(({ from }) => x(((from + FULL) % FULL) * 180 / Math.PI)); // prettier-ignore
    return text(12, 184, "value of the chosen set; ticks: it changes") +
      curve(turned.map(({ angle: a, value }) => [x(a), y(value)]), { class: "one-line" }) +
      ticks.map((t) => line(t, BOTTOM, t, BOTTOM + 8, { class: "axis" })).join("") +
      circle(x(angle), y(here.value), 6, { class: "one" }) + line(12, BOTTOM, width - 12, BOTTOM, { class: "axis" }) +
      [0, 90, 180, 270, 360].map((a) => text(x(a), BOTTOM + 24, `${a}°`, { "text-anchor": a === 0 ? "start" : a === 360 ? "end" : "middle" })).join("") +
      line(12, y(best.value), width - 12, y(best.value), { class: "dashed" }); // prettier-ignore
  }

  function told(d, cells, here, angle, count) {
    const [best, cell] = [bestOf(cells), cells.find((each) => within(each, radians(angle)))];
    const sets = kernel.sum(kernel.range(count).map((n) => [...kernel.combinations(d, n + 1)].length));
    const chosen = here.support.length ? `${features(here.support)} ${here.support.length > 1 ? "are" : "is"} chosen` : "no feature is chosen";
    const place = cell ? `, as from ${degrees(cell.from)}° to ${degrees(cell.to)}°` : "";
    const worth = here.value > best.value * (1 - 1e-3) ? "This is the largest of all." : `That is ${percent(here.value / best.value)} of the largest, on ${listed(best.support)}.`;
    const few = here.support.length < count ? ` Fewer than ${count} curves are positive here.` : "";
    return `At ${angle}° ${chosen}${place}, and the value is ${round(here.value)}. ${worth}${few} ` +
      `The turn has ${cells.length} cells, one set each, in place of ${sets} sets of at most ${count} features.`;
  } // prettier-ignore
})();
