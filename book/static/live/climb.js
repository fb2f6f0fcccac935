// IPU climbs from a start: the proxy's longest bars are the next choice.
"use strict";
(() => {
  const { circle, curve, features, line, percent, rect, round, scale, text } = live;
  const { A, m, k, starts, best, go, up, stuck } = INSTANCES.climb;
  const [FOOT, TOP, BOTTOM] = [150, 208, 272]; // of the bars, and of the curve below them
  const run = (start) => kernel.ipu(A, m, k, starts[start]);
  const across = (width, count) => scale(0, Math.max(count - 1, 1), 20, width - 76);

  live.add("climb", {
    title: "IPU climbs: the longest bars of the proxy are the next choice",
    task: "Go's choice is where IPU stays, and it is not the best one. Find a start from which IPU climbs to the optimum, and one from which it stops below.",
    height: 296,
    start: { start: go, step: 0 },
    presets: {
      "from Go": { start: go },
      "up to the optimum": { start: up },
      "stuck below": { start: stuck },
    },
    knobs: {
      start: { label: "start", least: 0, most: starts.length - 1, step: 1, says: (i) => (i === go ? "Go" : `random ${i}`) },
      step: { label: "step", least: 0, most: ({ start }) => run(start).length - 1, step: 1 },
    }, // prettier-ignore
    drag({ start }, x, y, width) {
      const count = run(start).length;
      if (y < TOP - 20) return null;
      return { step: Math.round(scale(20, width - 76, 0, Math.max(count - 1, 1))(x)) };
    },
    show({ start, step }, width) {
      const steps = run(start);
      const { support, score, value } = steps[step];
      const next = kernel.largest(score, k);
      const comes = next.filter((i) => !support.includes(i));
      const goes = support.filter((i) => !next.includes(i));
      const stays = step === steps.length - 1;
      return {
        picture: bars(score, support, stays ? [] : comes, stays ? [] : goes, width) + path(steps, step, width),
        words: told(steps, step, support, value, comes, goes),
      }; // prettier-ignore
    },
  });

  function bars(score, support, comes, goes, width) {
    const wide = (width - 16) / score.length;
    const high = scale(0, Math.max(...score), 0, FOOT - 42);
    const middle = { "text-anchor": "middle" };
    const shapes = score.map((s, i) => {
      const [x, y] = [8 + i * wide, FOOT - high(s)];
      const sign = comes.includes(i) ? "in" : goes.includes(i) ? "out" : "";
      const look = { class: support.includes(i) ? "one" : "open" };
      return rect(x + 2, y, wide - 4, high(s), look) +
        text(x + wide / 2, FOOT + 15, i, middle) + text(x + wide / 2, y - 4, sign, { ...middle, class: "strong" }); // prettier-ignore
    });
    const said = text(8, 12, "bars: variance of the proxy; filled: chosen now");
    return said + shapes.join("") + line(8, FOOT, width - 8, FOOT, { class: "axis" });
  }

  function path(steps, step, width) {
    const least = Math.min(...steps.map(({ value }) => value));
    const [x, y] = [across(width, steps.length), scale(Math.min(least, 0.85 * best), best, BOTTOM, TOP)];
    const dots = steps.map(({ value }, t) => circle(x(t), y(value), t === step ? 7 : 4, { class: "one" }));
    return (
      text(8, 192, "variance explained, step by step") +
      line(8, TOP, width - 66, TOP, { class: "dashed" }) +
      text(width - 62, TOP + 4, "optimum") +
      curve(steps.map(({ value }, t) => [x(t), y(value)]), { class: "one-line" }) + dots.join("") +
      steps.map((_, t) => text(x(t), BOTTOM + 20, t, { "text-anchor": "middle" })).join("")
    ); // prettier-ignore
  }

  function told(steps, step, support, value, comes, goes) {
    const here = `Step ${step} of ${steps.length - 1}: ${features(support)} explain ${round(value)}, ${percent(value / best)} of the optimum. `;
    if (step < steps.length - 1) {
      return here + `Longer bars lie outside: ${features(comes)} will come in, ${features(goes)} will go, and the value can only rise.`;
    }
    const first = steps.length === 1 ? "IPU stays at once" : "IPU stops";
    if (value > best * (1 - 1e-6)) return here + `${first}, at the best of all choices.`;
    return here + `${first}, ${percent(1 - value / best)} below the best: no step from here rises, and only another start leads on.`;
  } // prettier-ignore
})();
