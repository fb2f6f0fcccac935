// The methods of the live figures: what fspca computes, for a dozen features.
"use strict";
const kernel = (() => {
  const TIE = 1e-10; // scores this close, relatively, tie; the smaller index comes first
  const SWEEPS = 60; // of rotations; a dozen features need six

  const range = (n) => Array.from({ length: n }, (_, i) => i);
  const sum = (a) => a.reduce((total, x) => total + x, 0);
  const dot = (a, b) => sum(a.map((x, i) => x * b[i]));
  const part = (A, rows) => rows.map((i) => rows.map((j) => A[i][j]));
  const times = (A, x) => A.map((row) => dot(row, x));
  const shrink = (x, by) => Math.sign(x) * Math.max(Math.abs(x) - by, 0);

  // Eigenvalues, descending, and unit eigenvectors as rows, by Jacobi's rotations.
  function eigen(given) {
    const [n, A] = [given.length, given.map((row) => [...row])];
    const V = range(n).map((i) => range(n).map((j) => Number(i === j)));
    const size = Math.hypot(...A.flat());
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
      const off = Math.hypot(...A.flatMap((row, i) => row.filter((_, j) => j !== i)));
      if (off <= 1e-16 * size) break;
      for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) rotate(A, V, p, q);
    }
    const order = range(n).sort((a, b) => A[b][b] - A[a][a]);
    return { values: order.map((i) => A[i][i]), vectors: order.map((i) => V[i]) };
  }

  // Turn rows and columns p and q so that their common entry becomes zero.
  function rotate(A, V, p, q) {
    if (A[p][q] === 0) return;
    const slope = (A[q][q] - A[p][p]) / (2 * A[p][q]);
    const t = Math.sign(slope || 1) / (Math.abs(slope) + Math.hypot(slope, 1));
    const c = 1 / Math.hypot(t, 1);
    const s = t * c;
    for (let i = 0; i < A.length; i++) {
      [A[i][p], A[i][q]] = [c * A[i][p] - s * A[i][q], s * A[i][p] + c * A[i][q]];
    }
    for (const M of [A, V]) {
      for (let i = 0; i < A.length; i++) {
        [M[p][i], M[q][i]] = [c * M[p][i] - s * M[q][i], s * M[p][i] + c * M[q][i]];
      }
    }
  }

  // The k largest scores, ascending by index, as fspca.linalg.largest has them.
  function largest(score, k) {
    const last = [...score].sort((a, b) => b - a)[k - 1];
    const slack = Math.max(TIE * Math.abs(last), 2 ** -49 * Math.max(...score.map(Math.abs)));
    const sure = range(score.length).filter((i) => score[i] > last + slack);
    const tied = range(score.length).filter((i) => Math.abs(score[i] - last) <= slack);
    return [...sure, ...tied.slice(0, k - sure.length)].sort((a, b) => a - b);
  }

  const value = (A, support, m) => sum(eigen(part(A, support)).values.slice(0, m));

  // The best loadings on a support: m rows of d numbers.
  function refit(A, support, m) {
    return eigen(part(A, support)).vectors.slice(0, m).map((v) => {
      const w = Array(A.length).fill(0);
      support.forEach((i, at) => (w[i] = v[at]));
      return w;
    });
  }

  function* combinations(n, k, from = 0) {
    if (k === 0) yield [];
    else
      for (let i = from; i <= n - k; i++)
        for (const rest of combinations(n, k - 1, i + 1)) yield [i, ...rest];
  }

  function exhaustive(A, m, k) {
    let best = { value: -Infinity };
    for (const support of combinations(A.length, k)) {
      const found = value(A, support, m);
      if (found > best.value * (1 + 1e-12)) best = { value: found, support };
    }
    return best;
  }

  function go(A, m, k) {
    const { values, vectors } = eigen(A);
    const score = range(A.length).map((i) =>
      sum(range(m).map((j) => Math.max(values[j], 0) * vectors[j][i] ** 2)),
    );
    const support = largest(k === m ? A.map((row, i) => row[i]) : score, k);
    return { support, score, value: value(A, support, m) };
  }

  // The rows of A W (W'AW)^(-1/2), whose squared lengths IPU ranks, for W of m rows.
  function proxy(A, W) {
    const AW = W.map((w) => times(A, w));
    const { values, vectors } = eigen(W.map((w) => AW.map((v) => dot(w, v))));
    const kept = range(W.length).filter((j) => values[j] > 1e-12 * values[0]);
    return range(A.length).map((i) =>
      sum(kept.map((j) => dot(vectors[j], AW.map((v) => v[i])) ** 2 / values[j])),
    );
  }

  // Every step of IPU from a support: the support, its value, the scores that it gives to all.
  function ipu(A, m, k, support) {
    const seen = (I) => ({ support: I, value: value(A, I, m), score: proxy(A, refit(A, I, m)) });
    const steps = [seen(support)];
    while (steps.length < 100) {
      const next = seen(largest(steps.at(-1).score, k));
      if (next.value <= steps.at(-1).value * (1 + TIE)) return steps;
      steps.push(next);
    }
    return steps;
  }

  // S_k(diag C) + F_m(A - C) for the part C of A above a level: no choice explains more.
  function split(A, m, k, level) {
    const { values, vectors } = eigen(A);
    const diagonal = range(A.length).map((i) =>
      sum(values.map((w, j) => Math.max(w - level, 0) * vectors[j][i] ** 2)),
    );
    const kept = largest(diagonal, k);
    const rows = sum(kept.map((i) => diagonal[i]));
    const rest = sum(values.map((w) => Math.min(w, level)).sort((a, b) => b - a).slice(0, m));
    return { values, diagonal, kept, rows, rest, bound: rows + rest };
  }

  // The best unit x >= 0 with at most k nonzeros for VV', V of two columns, at one angle.
  function atAngle(V, k, angle) {
    const z = V.map(([a, b]) => a * Math.cos(angle) + b * Math.sin(angle));
    const positive = range(V.length).filter((i) => z[i] > 0).sort((a, b) => z[b] - z[a]);
    const support = positive.slice(0, k).sort((a, b) => a - b);
    return { z, support, value: sum(support.map((i) => z[i] ** 2)) };
  }

  // The cells of a circle on which one set is chosen: where each begins, and its best angle.
  function cells(V, k) {
    const angles = [];
    const crossing = ([a, b]) => {
      const at = Math.atan2(-a, b); // where a cos + b sin is 0; again half a turn later
      for (const turn of [0, Math.PI]) angles.push((at + turn + 4 * Math.PI) % (2 * Math.PI));
    };
    V.forEach((v, i) => {
      crossing(v);
      V.slice(0, i).forEach((w) => crossing([v[0] - w[0], v[1] - w[1]]));
    });
    angles.sort((a, b) => a - b);
    const found = [];
    angles.forEach((from, i) => {
      const to = angles[i + 1] ?? angles[0] + 2 * Math.PI;
      const { support } = atAngle(V, k, (from + to) / 2);
      if (support.join() === found.at(-1)?.support.join()) found.at(-1).to = to;
      else found.push({ from, to, support });
    });
    if (found.length > 1 && found[0].support.join() === found.at(-1).support.join()) {
      found[0].from = found.pop().from - 2 * Math.PI;
    }
    return found.map((cell) => ({ ...cell, ...bestWithin(V, cell) }));
  }

  // On one set the value is c'Mc, M of two rows: its leading direction, or an end of the cell.
  function bestWithin(V, { from, to, support }) {
    const [rows, at] = [support.map((i) => V[i]), (t) => sum(rows.map(([a, b]) => (a * Math.cos(t) + b * Math.sin(t)) ** 2))]; // prettier-ignore
    const [xx, xy, yy] = [[0, 0], [0, 1], [1, 1]].map(([a, b]) => sum(rows.map((v) => v[a] * v[b]))); // prettier-ignore
    const top = Math.atan2(2 * xy, xx - yy) / 2;
    const inside = range(9).map((n) => top + (n - 4) * Math.PI).filter((t) => from <= t && t <= to);
    const angle = [from, to, ...inside].reduce((a, b) => (at(b) > at(a) ? b : a));
    return { angle, value: at(angle) };
  }

  function squareRoot(A) {
    const { values, vectors } = eigen(A);
    return range(A.length).map((i) =>
      range(A.length).map((j) =>
        sum(values.map((w, t) => Math.sqrt(Math.max(w, 0)) * vectors[t][i] * vectors[t][j])),
      ),
    );
  }

  // One component by the power step whose moduli a threshold shrinks; nothing where it is zero.
  function thresholded(A, threshold, root = squareRoot(A), steps = 2000) {
    const start = largest(A.map((row, i) => row[i]), 1)[0];
    let x = root[start].map((v) => v / Math.hypot(...root[start]));
    let z = times(root, x);
    for (let t = 0; t < steps; t++) {
      const moved = times(root, z.map((v) => shrink(v, threshold)));
      const length = Math.hypot(...moved);
      if (!length) return { support: [], value: 0, z };
      const next = moved.map((v) => v / length);
      const change = Math.hypot(...next.map((v, i) => v - x[i]));
      x = next;
      z = times(root, x);
      if (change < 1e-13) break;
    }
    const support = range(A.length).filter((i) => Math.abs(z[i]) > threshold);
    return { support, value: support.length ? value(A, support, 1) : 0, z };
  }

  // The unit v that maximises v'Av / 2 + rho v'b, by power steps from where it was.
  function onSphere(A, from, b, rho) {
    let v = from;
    for (let step = 0; step < 20000; step++) {
      const moved = times(A, v).map((x, i) => x + rho * b[i]);
      const length = Math.hypot(...moved);
      if (!length) return v;
      const next = moved.map((x) => x / length);
      const change = Math.hypot(...next.map((x, i) => x - v[i]));
      v = next;
      if (change < 1e-12) break;
    }
    return v;
  }

  // SADMM's two copies of one component: v on the sphere, y shrunk, their difference summed.
  function twoCopies(A, penalty, rho, steps) {
    let v = eigen(A).vectors[0];
    let y = v;
    let u = v.map(() => 0);
    return range(steps).map(() => {
      v = onSphere(A, v, y.map((x, i) => x - u[i]), rho);
      y = v.map((x, i) => shrink(x + u[i], penalty / rho));
      u = u.map((x, i) => x + v[i] - y[i]);
      return { v, y, apart: Math.hypot(...v.map((x, i) => x - y[i])) };
    });
  }

  // Every list of at most k features, and what its best component explains.
  function lists(A, k) {
    const sizes = range(k).map((n) => n + 1);
    return sizes.flatMap((n) =>
      [...combinations(A.length, n)].map((support) => ({ support, value: value(A, support, 1) })),
    );
  }

  // The best m lists of which no two share a feature.
  function packing(all, m, from = 0, used = new Set()) {
    let best = { value: 0, chosen: [] };
    if (m === 0) return best;
    for (let i = from; i < all.length; i++) {
      if (all[i].support.some((j) => used.has(j))) continue;
      const rest = packing(all, m - 1, i + 1, new Set([...used, ...all[i].support]));
      const found = all[i].value + rest.value;
      if (found > best.value) best = { value: found, chosen: [all[i], ...rest.chosen] };
    }
    return best;
  }

  // With a price on each feature: sum p + m max (value - price) is an upper bound of packings.
  function priced(all, m, prices) {
    const net = ({ support, value: worth }) => worth - sum(support.map((i) => prices[i]));
    const ranked = all.map((each) => ({ ...each, net: net(each) })).sort((a, b) => b.net - a.net);
    return { ranked, bound: sum(prices) + m * Math.max(ranked[0].net, 0) };
  }

  return { atAngle, cells, combinations, dot, eigen, exhaustive, go, ipu, largest, lists, packing, part, priced,
           range, split, squareRoot, sum, thresholded, twoCopies, value }; // prettier-ignore
})();
