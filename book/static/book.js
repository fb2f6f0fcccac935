// A region that scrolls can be reached by key; one that does not is no stop on the way.
"use strict";

const scrolling = () => {
  const places =
    ".pst-scrollable-table-container, .cell_output, .cell_output *, pre, .math, mjx-container, nav";
  for (const place of document.querySelectorAll(places)) {
    const wide = place.scrollWidth > place.clientWidth + 1;
    const high = place.scrollHeight > place.clientHeight + 1;
    const style = getComputedStyle(place);
    const moves = (how) => how === "auto" || how === "scroll";
    if ((wide && moves(style.overflowX)) || (high && moves(style.overflowY))) place.tabIndex = 0;
  }
};
addEventListener("load", () => {
  scrolling();
  const set = () => document.documentElement.classList.add("set");
  const formulas = globalThis.MathJax?.startup?.promise;
  formulas ? formulas.then(scrolling).then(set, set) : set(); // they are wide once they are set
});
addEventListener("resize", scrolling);
addEventListener("toggle", scrolling, true);

// A word of the glossary and a letter of the notation show what they mean: resting on one, or
// coming to it by key, or a touch, opens a note; Escape closes it.
const note = document.createElement("div");
Object.assign(note, { id: "meaning", hidden: true });
note.setAttribute("role", "tooltip");
document.body.append(note);

const glyphs = (element) =>
  [...element.querySelectorAll("mjx-c")]
    .map((c) => String.fromCodePoint(parseInt(c.className.match(/mjx-c([0-9A-F]+)/)[1], 16)))
    .join("")
    .normalize("NFKC");

// The letter under the pointer, with its index where it has one.
const letterAt = (target) => {
  const letter = target.closest("mjx-mi");
  if (!letter) return [];
  const indexed = letter.closest("mjx-msub, mjx-msubsup");
  const isBase = indexed && indexed.firstElementChild.contains(letter);
  const index = isBase ? glyphs(indexed.querySelector("mjx-script")) : "";
  const sign = glyphs(letter);
  return index ? [`${sign}_${index}`, `${sign}_i`, sign] : [sign];
};

const meaningOf = (target) => {
  const word = target.closest("a.term");
  if (word) return WORDS.words[new URL(word.href).hash.slice(1)];
  for (const sign of letterAt(target)) {
    const known = WORDS.letters.filter(([spelled]) => spelled === sign);
    const own = ([, places]) => places.some((place) => location.pathname.includes(place));
    const found = known.find(own) ?? known.find(([, places]) => !places.length);
    if (found) return `${found[0]}: ${found[2]}`;
  }
};

const close = () => (note.hidden = true);
const open = ({ target }) => {
  if (!globalThis.WORDS || !target.closest || note.contains(target)) return;
  const meaning = meaningOf(target);
  if (!meaning) return close();
  note.textContent = meaning;
  note.hidden = false;
  globalThis.MathJax?.typesetClear?.([note]);
  globalThis.MathJax?.typesetPromise?.([note]);
  const place = target.getBoundingClientRect();
  const left = Math.min(place.left, document.documentElement.clientWidth - note.offsetWidth - 8);
  note.style.left = `${Math.max(8, left) + scrollX}px`;
  note.style.top = `${place.bottom + 4 + scrollY}px`;
  const word = target.closest("a");
  if (word) word.setAttribute("aria-describedby", "meaning");
};
document.addEventListener("mouseover", open);
// A finger cannot rest on a word: the first touch opens the note, which leads to the glossary.
let finger = false;
document.addEventListener("pointerdown", ({ pointerType }) => (finger = pointerType === "touch"));
document.addEventListener(
  "click",
  (event) => {
    const word = event.target.closest("a.term");
    if (!finger || (!word && note.contains(event.target))) return;
    if (!word) return letterAt(event.target).length ? open(event) : close();
    event.preventDefault();
    open(event);
    const there = Object.assign(document.createElement("a"), { href: word.href });
    there.textContent = "In the glossary";
    note.append(there);
  },
  true,
);
document.addEventListener("focusin", open);
document.addEventListener("keydown", ({ key }) => key === "Escape" && close());
