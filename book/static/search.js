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

const nearest = (list) => list.sort((a, b) => KINDS.indexOf(a[1]) - KINDS.indexOf(b[1]));
const found = [
  ...nearest(PLACES.filter(isIt)),
  ...nearest(PLACES.filter((place) => !isIt(place) && holdsIt(place))),
].slice(0, 12);

if (asked && found.length) {
  const list = document.createElement("ul");
  list.className = "first-found";
  for (const [, kind, title, address] of found) {
    const link = Object.assign(document.createElement("a"), { href: address });
    link.textContent = title;
    const item = document.createElement("li");
    item.append(link, ` (${kind})`);
    list.append(item);
  }
  document.querySelector("#search-results").before(list);
  globalThis.MathJax?.typesetPromise?.([list]);
}
