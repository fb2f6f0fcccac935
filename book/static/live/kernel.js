// The methods of the live figures: what fspca computes, for tens of features.
"use strict";
const kernel = (() => {
  const { Matrix, EigenvalueDecomposition } = mlMatrix;
  const TIE = 1e-10; // scores this close, relatively, tie; the smaller index comes first

  // A seeded stream of uniform numbers, and one of normal numbers from it.
  function uniform(seed) {
    let s = seed >>> 0;
    return () => {
      s = (s + 0x6d2b79f5) >>> 0;
      let t = Math.imul(s ^ (s >>> 15), 1 | s);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }
  function normal(seed) {
    const u = uniform(seed);
    return () => Math.sqrt(-2 * Math.log(1 - u())) * Math.cos(2 * Math.PI * u());
  }

  const range = (n) => Array.from({ length: n }, (_, i) => i);
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  const sum = (a) => a.reduce((total, x) => total + x, 0);
  const part = (A, rows) => rows.map((i) => rows.map((j) => A[i][j]));

  // Eigenvalues, descending, and unit eigenvectors as rows.
  function eigen(A) {
    const found = new EigenvalueDecomposition(new Matrix(A), { assumeSymmetric: true });
    const order = range(A.length).reverse();
    const V = found.eigenvectorMatrix;
    return {
      values: order.map((j) => found.realEigenvalues[j]),
      vectors: order.map((j) => range(A.length).map((i) => V.get(i, j))),
    };
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
    const AW = W.map((w) => A.map((row) => dot(row, w)));
    const { values, vectors } = eigen(W.map((w) => AW.map((v) => dot(w, v))));
    const kept = range(W.length).filter((j) => values[j] > 1e-12 * values[0]);
    return range(A.length).map((i) =>
      sum(kept.map((j) => dot(vectors[j], AW.map((v) => v[i])) ** 2 / values[j])),
    );
  }

  // Every step of IPU from a support: its scores, the support that they choose, its value.
  function ipu(A, m, k, support) {
    const steps = [{ support, value: value(A, support, m), score: null }];
    while (steps.length < 100) {
      const score = proxy(A, refit(A, support, m));
      const next = largest(score, k);
      if (next.join() === support.join()) return steps;
      const found = value(A, next, m);
      if (found <= steps.at(-1).value * (1 + TIE)) return steps;
      steps.push({ support: next, value: found, score });
      support = next;
    }
    return steps;
  }

  // S_k(diag C) + m sigma for the part C of A above sigma: an upper bound for every sigma >= 0.
  function bound(A, m, k, sigma) {
    const { values, vectors } = eigen(A);
    const c = range(A.length).map((i) =>
      sum(values.map((w, j) => Math.max(w - sigma, 0) * vectors[j][i] ** 2)),
    );
    const rest = values.map((w) => Math.min(w, sigma)).sort((a, b) => b - a);
    return sum(c.sort((a, b) => b - a).slice(0, k)) + sum(rest.slice(0, m));
  }

  // The best unit x >= 0 with at most k nonzeros for VV', V of two columns, at one angle.
  function atAngle(V, k, angle) {
    const z = V.map(([a, b]) => a * Math.cos(angle) + b * Math.sin(angle));
    const positive = range(V.length).filter((i) => z[i] > 0).sort((a, b) => z[b] - z[a]);
    const support = positive.slice(0, k).sort((a, b) => a - b);
    return { z, support, value: sum(support.map((i) => z[i] ** 2)) };
  }

  // One component by the l1 power step at a threshold; null where it is zero.
  function gpower(A, threshold, steps = 500) {
    const d = A.length;
    const start = range(d).sort((a, b) => A[b][b] - A[a][a] || a - b)[0];
    const root = squareRoot(A);
    let x = root[start].map((v) => v / Math.hypot(...root[start]));
    let z;
    for (let t = 0; t < steps; t++) {
      z = root.map((row) => dot(row, x));
      const kept = z.map((v) => Math.sign(v) * Math.max(Math.abs(v) - threshold, 0));
      const moved = range(d).map((i) => sum(kept.map((w, j) => w * root[j][i])));
      const length = Math.hypot(...moved);
      if (!length) return null;
      const next = moved.map((v) => v / length);
      const change = Math.hypot(...next.map((v, i) => v - x[i]));
      x = next;
      if (change < 1e-13) break;
    }
    const support = range(d).filter((i) => Math.abs(z[i]) > threshold);
    return { support, value: support.length ? value(A, support, 1) : 0, z };
  }

  function squareRoot(A) {
    const { values, vectors } = eigen(A);
    return range(A.length).map((i) =>
      range(A.length).map((j) =>
        sum(values.map((w, t) => Math.sqrt(Math.max(w, 0)) * vectors[t][i] * vectors[t][j])),
      ),
    );
  }

  // The unit v that maximises v'Av / 2 - rho |v - b|^2 / 2, by its secular equation.
  function onSphere({ values, vectors }, b, rho) {
    const c = vectors.map((v) => rho * dot(v, b));
    const length = (t) => Math.hypot(...c.map((x, j) => x / (t - values[j])));
    let [low, high] = [values[0], values[0] + Math.hypot(...c) + 1e-300];
    for (let step = 0; step < 200; step++) {
      const middle = (low + high) / 2;
      if (length(middle) > 1) low = middle;
      else high = middle;
    }
    const y = c.map((x, j) => x / (high - values[j]));
    const v = b.map((_, i) => sum(y.map((w, j) => w * vectors[j][i])));
    const norm = Math.hypot(...v);
    return norm ? v.map((x) => x / norm) : vectors[0];
  }

  // The two copies of one component: v on the sphere, w soft-thresholded, their difference summed.
  function twoCopies(A, penalty, rho, steps) {
    const parts = eigen(A);
    let v = parts.vectors[0];
    let w = v;
    let u = v.map(() => 0);
    return range(steps).map(() => {
      v = onSphere(parts, w.map((x, i) => x - u[i]), rho);
      w = v.map((x, i) => x + u[i]);
      w = w.map((x) => Math.sign(x) * Math.max(Math.abs(x) - penalty / rho, 0));
      u = u.map((x, i) => x + v[i] - w[i]);
      return { v, w, apart: Math.hypot(...v.map((x, i) => x - w[i])) };
    });
  }

  return { atAngle, bound, dot, eigen, exhaustive, go, gpower, ipu, largest, normal, range, sum,
           twoCopies, uniform, value }; // prettier-ignore
})();
