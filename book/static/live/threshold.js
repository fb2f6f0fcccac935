// A threshold drops features, not always one by one; a count asks for a count.
"use strict";
(() => {
  const { circle, curve, features, line, percent, rect, round, scale, text } = live;
  const { A, wanted, before, after } = INSTANCES.threshold;
  const most = Math.sqrt(Math.max(...A.map((row, i) => row[i]))); // from here on nothing is left
  const root = kernel.squareRoot(A);
  const steps = kernel.range(96).map((i) => kernel.thresholded(A, (i / 100) * most, root));
  const best = kernel.range(A.length).map((i) => kernel.exhaustive(A, 1, i + 1));
  const [FOOT, TOP, BOTTOM] = [150, 196, 266];

  live.add("threshold", {
    title: "A threshold drops features, and not always one at a time",
    task: `Keep exactly ${wanted} features: move the threshold, or drag it over the bars. Then see what it lost on the way.`,
    height: 288,
    start: { threshold: 0 },
    presets: {
      "all stay": { threshold: 0 },
      "more than wanted": { threshold: before },
      "one step further": { threshold: after },
    },
    knobs: { threshold: { label: "threshold", least: 0, most: 0.95, step: 0.01 } },
    drag(_, x, y, width) {
      const given = y < FOOT + 10 ? scale(FOOT, 26, 0, 1)(y) : scale(30, width - 12, 0, 1)(x);
      return { threshold: Math.round(100 * Math.min(Math.max(given, 0), 0.95)) / 100 };
    },
    show({ threshold }, width) {
      const found = steps[Math.round(100 * threshold)];
      return { picture: bars(found, threshold, width) + counts(threshold, width), words: told(found, threshold) };
    }, // prettier-ignore
  });

  function bars({ z, support }, threshold, width) {
    const wide = (width - 16) / z.length;
    const high = scale(0, most, 0, FOOT - 26);
    const shapes = z.map((value, i) => {
      const x = 8 + i * wide;
      const tall = high(Math.abs(value));
      return rect(x + 2, FOOT - tall, wide - 4, tall, { class: support.includes(i) ? "one" : "open" }) +
        text(x + wide / 2, FOOT + 15, i, { "text-anchor": "middle" }); // prettier-ignore
    });
    const at = FOOT - high(threshold * most);
    return text(8, 12, "moduli before the threshold; filled: kept") + shapes.join("") +
      line(0, at, width, at, { class: "dashed", "stroke-width": 2 }) + line(8, FOOT, width - 8, FOOT, { class: "axis" }); // prettier-ignore
  }

  function counts(threshold, width) {
    const [x, y] = [scale(0, 1, 30, width - 12), scale(0, A.length, BOTTOM, TOP)];
    const stairs = steps.flatMap(({ support }, i) => [[x(i / 100), y(support.length)], [x((i + 1) / 100), y(support.length)]]);
    const here = steps[Math.round(100 * threshold)].support.length;
    return text(8, 184, "features kept, over the threshold") +
      [0, 5, 10].map((n) => text(24, y(n) + 4, n, { "text-anchor": "end" })).join("") +
      [0, 0.5, 1].map((t) => text(x(t), BOTTOM + 17, t, { "text-anchor": "middle" })).join("") +
      line(30, BOTTOM, width - 12, BOTTOM, { class: "axis" }) + line(30, BOTTOM, 30, TOP, { class: "axis" }) +
      line(30, y(wanted), width - 12, y(wanted), { class: "dashed" }) + text(width - 12, y(wanted) - 4, "wanted", { "text-anchor": "end" }) +
      curve(stairs, { class: "one-line" }) + circle(x(threshold), y(here), 6, { class: "one" });
  } // prettier-ignore

  function told({ support, value }, threshold) {
    const count = support.length;
    if (!count) return `At ${threshold} nothing passes the threshold, and no component is left.`;
    const other = best[count - 1];
    const share = value / other.value;
    const kept = `At ${threshold} ${count === A.length ? "all features" : features(support)} stay: ${count} of ${A.length}. Refitted, they explain ${round(value)}`;
    const judged = share > 1 - 1e-6 ? ", and no other choice of as many explains more. " : `, ${percent(share)} of the best choice of as many, ${features(other.support)}. `;
    const reached = steps.some((each) => each.support.length === wanted);
    const next = steps[Math.min(Math.round(100 * threshold) + 1, steps.length - 1)].support.length;
    if (count > wanted && next < wanted && !reached) return kept + judged + `One step more drops ${count - next} features at once: no threshold keeps ${wanted}, where a method with a count keeps what is asked.`;
    return kept + judged;
  } // prettier-ignore
})();
