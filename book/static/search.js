// What the book has under the very name that was asked for stands above what contains the word.
"use strict";

const asked = (new URLSearchParams(location.search).get("q") ?? "").trim();
const KINDS = ["chapter", "solver", "section", "glossary", "letter"];
const plain = (text) => text.toLowerCase().replace(/s$/, "");

// A letter is itself, great or small; other names do not mind.
const isIt = ([names, kind]) =>
  kind === "letter"
    ? names.includes(asked) || (asked.length > 1 && names.includes(asked.toLowerCase()))
    : names.some((name) => plain(name) === plain(asked));
const holdsIt = ([names, kind]) =>
  kind !== "letter" && asked.length > 2 && names.some((name) => name.includes(plain(asked)));

// A line of text below a hit.
function said(line) {
  const below = Object.assign(document.createElement("p"), { className: "hit" });
  below.append(line);
  return below;
}

// What a page says around a word that was asked for, or else how it begins.
function around(text) {
  const words = asked.toLowerCase().split(/\s+/);
  const low = text.toLowerCase();
  const [at, word] = words
    .map((each) => [low.indexOf(each), each])
    .filter(([place]) => place >= 0)
    .sort((a, b) => b[1].length - a[1].length)[0] ?? [0, ""];
  const from = at > 60 ? text.indexOf(" ", at - 60) + 1 : 0;
  const mark = document.createElement("mark");
  mark.append(text.slice(at, at + word.length));
  const rest = text.slice(at + word.length, from + 180);
  const line = document.createDocumentFragment();
  line.append((from ? "... " : "") + text.slice(from, at), mark, `${rest} ...`);
  return line;
}

// The theme's hits get theirs as they come.
const page = ({ href }) => new URL(href).pathname.split("/book/").pop().replace(/\.html$/, "");
new MutationObserver((changes) => {
  for (const hit of changes.flatMap((each) => [...each.addedNodes])) {
    const link = hit.nodeName === "LI" && hit.querySelector("a");
    if (link && !hit.querySelector(".hit")) hit.append(said(around(TEXTS[page(link)] || link.text)));
  }
}).observe(document.querySelector("#search-results"), { childList: true, subtree: true });

const nearest = (list) => list.sort((a, b) => KINDS.indexOf(a[1]) - KINDS.indexOf(b[1]));
const found = [
  ...nearest(PLACES.filter(isIt)),
  ...nearest(PLACES.filter((place) => !isIt(place) && holdsIt(place))),
].slice(0, 12);

if (asked && found.length) {
  const list = document.createElement("ul");
  list.className = "first-found";
  for (const [, kind, title, address, line] of found) {
    const link = Object.assign(document.createElement("a"), { href: address });
    link.textContent = title;
    const item = document.createElement("li");
    item.append(link, ` (${kind})`, said(line));
    list.append(item);
  }
  document.querySelector("#search-results").before(list);
  globalThis.MathJax?.typesetPromise?.([list]);
}
