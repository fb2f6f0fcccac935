// SADMM's two copies of a component: one of length one, one sparse; a multiplier draws them together.
"use strict";
(() => {
  const { circle, curve, features, line, percent, rect, round, scale, text } = live;
  const { A, penalty } = INSTANCES.copies;
  const STEPS = 60;
  const [MIDDLE, HALF, TOP, BOTTOM] = [96, 66, 214, 284];
  const [first, size] = [kernel.eigen(A).values[0], Math.hypot(...A.flat())];
  let last = { key: "", steps: [] };
  const run = (share, weight) => {
    const key = `${share},${weight}`;
    if (last.key !== key) last = { key, steps: kernel.twoCopies(A, share * first, weight * size, STEPS) };
    return last.steps;
  }; // prettier-ignore

  live.add("copies", {
    title: "Two copies of one component: one of length one, one sparse",
    task: "Follow the steps until the copies agree. Then make the weight light, and see whether they still meet.",
    height: 304,
    start: { step: 1, penalty, weight: 1 },
    presets: {
      "the first step": { step: 1 },
      "they meet": { step: STEPS },
      "too light: they swing": { step: STEPS, weight: 0.1 },
      "no penalty: PCA": { step: 1, penalty: 0 },
    },
    knobs: {
      step: { label: "step", least: 1, most: STEPS, step: 1 },
      penalty: { label: "penalty", least: 0, most: 0.6, step: 0.05 },
      weight: { label: "weight", least: 0.05, most: 2, step: 0.05 },
    },
    drag(_, x, y, width) {
      if (y < TOP - 20) return null;
      return { step: Math.min(Math.max(Math.round(scale(46, width - 12, 1, STEPS)(x)), 1), STEPS) };
    },
    show({ step, penalty: share, weight }, width) {
      const steps = run(share, weight);
      return { picture: pairs(steps[step - 1], width) + apart(steps, step, width), words: told(steps, step, share) };
    }, // prettier-ignore
  });

  function pairs({ v, y }, width) {
    const wide = (width - 16) / v.length;
    const high = scale(0, 1, 0, HALF);
    const bar = (x, value, look) => {
      const tall = high(Math.min(Math.abs(value), 1.1));
      return rect(x, value > 0 ? MIDDLE - tall : MIDDLE, wide / 2 - 2, tall, { class: look });
    };
    const shapes = v.map((_, i) => {
      const x = 8 + i * wide;
      const zero = y[i] === 0 ? text(x + 0.72 * wide, MIDDLE - 2, "0", { "text-anchor": "middle" }) : "";
      return bar(x + 1, v[i], "one") + bar(x + wide / 2 + 1, y[i], "two") + zero +
        text(x + wide / 2, MIDDLE + HALF + 16, i, { "text-anchor": "middle" }); // prettier-ignore
    });
    return rect(8, 3, 10, 10, { class: "one" }) + text(22, 12, "length one") +
      rect(100, 3, 10, 10, { class: "two" }) + text(114, 12, "sparse; 0: exactly zero") + shapes.join("") +
      line(8, MIDDLE, width - 8, MIDDLE, { class: "axis" }); // prettier-ignore
  }

  // The distance of the copies, on a scale of powers of ten.
  function apart(steps, step, width) {
    const [low, high] = [-6, 0.5];
    const x = scale(1, STEPS, 46, width - 12);
    const y = (far) => scale(low, high, BOTTOM, TOP)(Math.max(Math.log10(Math.max(far, 1e-6)), low));
    return text(8, TOP - 8, "how far apart, at each step") +
      [[0, "1"], [-3, "0.001"]].map(([power, words]) => text(42, scale(low, high, BOTTOM, TOP)(power) + 4, words, { "text-anchor": "end" })).join("") +
      [1, 20, 40, STEPS].map((t) => text(x(t), BOTTOM + 16, t, { "text-anchor": "middle" })).join("") +
      line(46, BOTTOM, width - 12, BOTTOM, { class: "axis" }) + line(46, BOTTOM, 46, TOP, { class: "axis" }) +
      curve(steps.map((each, t) => [x(t + 1), y(each.apart)]), { class: "one-line" }) +
      circle(x(step), y(steps[step - 1].apart), 6, { class: "one" });
  } // prettier-ignore

  function told(steps, step, share) {
    const { v, y, apart: far } = steps[step - 1];
    const support = kernel.range(A.length).filter((i) => y[i] !== 0);
    const dense = v.filter((x) => Math.abs(x) > 1e-3).length;
    const here = `After ${step} ${step === 1 ? "step" : "steps"} the copy of length one has ${dense} entries above 0.001, the sparse one ${support.length ? `${support.length} nonzeros${support.length > 5 ? "" : ` (${features(support)})`}` : "none"}, and they are ${round(far, 2)} apart. `;
    if (share === 0) return here + "Without a penalty nothing is shrunk: the copies agree from the start, and the component is PCA's.";
    if (far < 1e-3) return here + "They agree: one component that has length one and is sparse.";
    const ends = steps.slice(-10).map((each) => each.apart);
    if (step === STEPS && Math.min(...ends) > 0.05) return here + "They do not settle: the weight is too light beside the covariance to hold one copy near the other.";
    return here + "The multiplier has collected their difference, and the next step uses it.";
  } // prettier-ignore
})();
