// Prices on features prove how much lists that share no feature can explain.
"use strict";
(() => {
  const { circle, features, line, listed, percent, rect, round, scale, text } = live;
  const { m, k, ...found } = INSTANCES.prices;
  const D = found.meet.A.length;
  const KEYS = kernel.range(D).map((i) => `p${i}`);
  const MOST = 1.5;
  const [CENTRE, RADIUS, TOP, FOOT] = [118, 84, 250, 326];
  const lists = Object.fromEntries(Object.entries(found).map(([name, { A }]) => [name, kernel.lists(A, k)]));
  const packed = Object.fromEntries(Object.entries(lists).map(([name, all]) => [name, kernel.packing(all, m)]));
  const at = (prices) => Object.fromEntries(prices.map((p, i) => [KEYS[i], p]));
  const none = at(Array(D).fill(0));
  const least = (shown) => kernel.priced(lists[shown], m, found[shown].prices).bound;

  live.add("prices", {
    title: "Prices on features: two lists may not want the same one",
    task: `Put prices on features, by the sliders or in the bars, until the bound meets the best ${m} disjoint lists.`,
    height: 350,
    start: { shown: "meet", ...none },
    presets: {
      "no prices": {},
      "the best prices": at(found.meet.prices),
      "no prices suffice": { shown: "apart", ...at(found.apart.prices) },
    },
    knobs: Object.fromEntries(
      KEYS.map((key, i) => [key, { label: `feature ${i}`, least: 0, most: MOST, step: 0.05 }]),
    ),
    drag(_, x, y, width) {
      if (y < TOP - 16) return null;
      const i = Math.min(Math.max(Math.floor(scale(8, width - 8, 0, D)(x)), 0), D - 1);
      const price = Math.min(Math.max(scale(FOOT, TOP, 0, MOST)(y), 0), MOST);
      return { [KEYS[i]]: Math.round(20 * price) / 20 };
    },
    show({ shown, ...given }, width) {
      const prices = KEYS.map((key) => given[key]);
      const { ranked, bound } = kernel.priced(lists[shown], m, prices);
      const wanted = ranked.filter(({ net }) => net > ranked[0].net - 1e-5);
      return {
        picture: graph(ranked, wanted, packed[shown], width) + bars(prices, width),
        words: told(shown, prices, bound, wanted),
      };
    },
  });

  // Features on a circle, a line for each pair: the wanted ones bold, the best lists dashed.
  function graph(ranked, wanted, { chosen }, width) {
    const place = (i) => {
      const turn = (2 * Math.PI * i) / D - Math.PI / 2;
      return [width / 2 + RADIUS * Math.cos(turn), CENTRE + RADIUS * Math.sin(turn)];
    };
    const edge = ({ support: [i, j] }, look) => line(...place(i), ...place(j), look);
    const ring = ({ support: [i] }, look) => circle(...place(i), 17, look);
    const marked = (all, look) => all.map((each) => (each.support.length > 1 ? edge : ring)(each, look)).join("");
    const nodes = kernel.range(D).map((i) => circle(...place(i), 12, { class: "node" }) +
      text(place(i)[0], place(i)[1] + 4, i, { "text-anchor": "middle", class: "strong" })); // prettier-ignore
    return text(8, 12, "bold: best list at these prices") + text(8, 28, "dashed: the best lists") +
      marked(ranked.filter(({ support }) => support.length > 1), { class: "faint" }) +
      marked(wanted, { class: "two-line", fill: "none", "stroke-width": 6 }) +
      marked(chosen, { class: "dashed", fill: "none", "stroke-width": 2 }) + nodes.join("");
  } // prettier-ignore

  function bars(prices, width) {
    const wide = (width - 16) / D;
    const high = scale(0, MOST, 0, FOOT - TOP);
    const shapes = prices.map((price, i) => {
      const x = 8 + i * wide;
      const tall = high(Math.min(price, MOST));
      return rect(x + 6, TOP, wide - 12, FOOT - TOP, { class: "frame" }) + rect(x + 6, FOOT - tall, wide - 12, tall, { class: "one" }) +
        text(x + wide / 2, FOOT + 16, i, { "text-anchor": "middle" }); // prettier-ignore
    });
    return text(8, TOP - 10, "price of each feature") + shapes.join("");
  }

  function told(shown, prices, bound, wanted) {
    const { value, chosen } = packed[shown];
    const paid = kernel.sum(prices);
    const best = `the best lists, ${listed(chosen.map(({ support }) => support.join(" with ")))}, explain ${round(value)}`;
    const here = `The prices sum to ${round(paid, 3)}, and the best list is worth ${round(wanted[0].net)} more than it costs: no ${m} disjoint lists explain more than ${round(bound)}; ${best}. `;
    const above = bound / value - 1;
    if (above < 1e-5) return here + "They meet: proven, with nothing but a price for each feature.";
    const gap = `A gap of ${percent(above)} is left. `;
    if (shown === "apart" && bound < least(shown) * (1 + 1e-5)) return here + gap + "No prices do better here: three lists want each other's features, and half of each would do better than any choice.";
    const common = wanted.reduce((names, { support }) => names.filter((i) => support.includes(i)), kernel.range(D));
    if (common.length) return here + gap + `Every list that is best now wants ${features(common)}: a higher price there lowers the bound.`;
    const idle = kernel.range(D).filter((i) => prices[i] > 0 && !wanted.some(({ support }) => support.includes(i)));
    if (idle.length) return here + gap + `No list that is best now wants ${features(idle)}: a lower price there lowers the bound.`;
    return here + gap + "The lists that are best now have no feature in common: several prices must move together.";
  } // prettier-ignore
})();
