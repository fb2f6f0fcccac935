// The frame of the live figures: a task, presets, a picture, sliders, and words on what is seen.
//
// A page holds <figure class="live" data-live="climb"> and this script, which loads the rest from
// its own folder; files do, no server is needed.  What is set stands in the page's address.
"use strict";
const live = (() => {
  const folder = document.currentScript?.src.replace(/[^/]*$/, "") ?? "";
  const tag = (name, given, inside = "") =>
    `<${name} ${Object.entries(given).map(([key, v]) => `${key}="${v}"`).join(" ")}>${inside}</${name}>`;
  const text = (x, y, words, more = {}) => tag("text", { x, y, ...more }, words);
  const line = (x1, y1, x2, y2, more = {}) => tag("line", { x1, y1, x2, y2, ...more });
  const rect = (x, y, width, height, more = {}) =>
    tag("rect", { x, y, width: Math.max(width, 0), height: Math.max(height, 0), ...more });
  const circle = (cx, cy, r, more = {}) => tag("circle", { cx, cy, r, ...more });
  const curve = (points, more = {}) =>
    tag("polyline", { points: points.map((p) => p.map((x) => x.toFixed(1)).join()).join(" "), fill: "none", "stroke-width": 2, ...more }); // prettier-ignore

  const round = (x, digits = 4) => Number(x.toPrecision(digits)).toString();
  const percent = (share, digits = 3) => `${round(100 * share, digits)} %`;
  const listed = (names) =>
    names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : `${names[0] ?? "none"}`;
  const features = (names) => (names.length === 1 ? "feature " : "features ") + listed(names);
  const scale = (low, high, from, to) => (x) => from + ((to - from) * (x - low)) / (high - low || 1);

  // The state that an address holds, where it speaks of this figure: #climb:start=3,step=2
  function fromAddress(name, start) {
    const [whose, given] = decodeURIComponent(location.hash.slice(1)).split(":");
    if (whose !== name || !given) return null;
    const state = { ...start };
    for (const [key, value] of given.split(",").map((pair) => pair.split("="))) {
      const number = typeof start[key] === "number";
      if (key in start && value && !(number && Number.isNaN(Number(value)))) {
        state[key] = number ? Number(value) : value;
      }
    }
    return state;
  }

  function toAddress(name, state, start) {
    const told = Object.keys(start).filter((key) => state[key] !== start[key]);
    const given = told.map((key) => `${key}=${state[key]}`).join() || "start";
    history.replaceState(null, "", `#${name}:${given}`);
  }

  function mount(place, name, figure) {
    const same = (one, other) => Object.keys(other).every((key) => one[key] === other[key]);
    let state = figure.start;
    place.innerHTML =
      `<p class="live-title">${figure.title}</p><p><strong>Try it.</strong> ${figure.task}</p>` +
      `<div class="live-presets">${Object.keys(figure.presets).map((words) => `<button type="button">${words}</button>`).join("")}</div>` +
      `<svg role="img" height="${figure.height}"></svg><form class="live-knobs">` +
      Object.entries(figure.knobs).map(([key, { label }]) =>
        `<label><span>${label} <output></output></span><input type="range" name="${key}"></label>`).join("") + // prettier-ignore
      `</form><p class="live-words" aria-live="polite"></p>`;
    const picture = place.querySelector("svg");
    const inputs = [...place.querySelectorAll("input")];
    const buttons = [...place.querySelectorAll("button")];
    const width = () => Math.max(picture.clientWidth, 240);
    const bound = (key, side) => {
      const given = figure.knobs[key][side];
      return typeof given === "function" ? given(state) : given;
    };

    function draw() {
      for (const { name: key } of inputs) {
        state[key] = Math.min(Math.max(state[key], bound(key, "least")), bound(key, "most"));
      }
      const shown = figure.show(state, width());
      picture.setAttribute("viewBox", `0 0 ${width()} ${figure.height}`);
      picture.setAttribute("aria-label", figure.title);
      picture.innerHTML = shown.picture;
      place.querySelector(".live-words").textContent = shown.words;
      for (const input of inputs) {
        const key = input.name;
        const { step, says = (x) => round(x, 3) } = figure.knobs[key];
        Object.assign(input, { min: bound(key, "least"), max: bound(key, "most"), step });
        input.value = state[key];
        input.previousElementSibling.lastElementChild.textContent = says(state[key], state);
        input.setAttribute("aria-valuetext", says(state[key], state));
      }
      Object.values(figure.presets).forEach((preset, i) =>
        buttons[i].setAttribute("aria-pressed", same(state, { ...figure.start, ...preset })),
      );
    }
    function set(given) {
      state = { ...state, ...given };
      draw();
      toAddress(name, state, figure.start);
    }
    place.addEventListener("input", ({ target }) => set({ [target.name]: Number(target.value) }));
    place.addEventListener("submit", (event) => event.preventDefault());
    buttons.forEach((button, i) =>
      button.addEventListener("click", () =>
        set({ ...figure.start, ...Object.values(figure.presets)[i] }),
      ),
    );
    // A finger or a pointer on the picture moves what it points at.
    const drag = (event) => {
      if (!event.buttons) return;
      const box = picture.getBoundingClientRect();
      const given = figure.drag(state, event.clientX - box.left, event.clientY - box.top, width());
      if (given) set(given);
    };
    picture.addEventListener("pointerdown", (event) => {
      picture.setPointerCapture?.(event.pointerId);
      drag(event);
    });
    picture.addEventListener("pointermove", drag);
    new ResizeObserver(draw).observe(picture);
    const restore = () => {
      const given = fromAddress(name, figure.start);
      state = given ?? { ...figure.start };
      draw();
      if (given) place.scrollIntoView();
    };
    addEventListener("hashchange", () => fromAddress(name, figure.start) && restore());
    restore();
  }

  // Each figure's file calls this with what it is.
  function add(name, figure) {
    document.querySelectorAll(`[data-live="${name}"]`).forEach((place) => mount(place, name, figure));
  }

  function start() {
    const names = [...document.querySelectorAll("[data-live]")].map((place) => place.dataset.live);
    if (!folder || !names.length) return;
    for (const file of ["kernel", "instances", ...new Set(names)]) {
      const script = Object.assign(document.createElement("script"), { async: false });
      document.head.append(Object.assign(script, { src: `${folder}${file}.js` }));
    }
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();

  return { add, circle, curve, features, line, listed, percent, rect, round, scale, tag, text };
})();
