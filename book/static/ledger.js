// The ledger: filters whose state is in the address, and rows that open where they stand.
// LEDGER, from ledger_rows.js, has what is known of a row beside what its cell shows.
"use strict";
{ // names of the book's own scripts stay theirs
const form = document.querySelector(".ledger-filter");
const sections = [...document.querySelectorAll("details.ledger-text")];
const FILTERS = ["search", "paper", "text", "set", "method", "verdict"];

// Rows stand in the script as they do in the page.
const places = document.querySelectorAll("table.ledger td[id], .ledger-sentences li[id]");
const rows = [...places].map((place, at) => {
  const found = LEDGER.rows[at];
  const named = LEDGER.columns.map((name, i) => [name, LEDGER.pool[found[i]]]);
  const values = (found[named.length] ?? []).map(([i, v]) => [LEDGER.pool[i], v]);
  const { method, set, ...told } = { ...Object.fromEntries(named), values };
  const section = place.closest("details.ledger-text");
  const mark = place.matches("td") ? place : place.querySelector("b");
  return {
    address: place.id, place, section, told,
    paper: [section.dataset.paper],
    text: [LEDGER.texts[section.id].name],
    set: [set],
    method: method.split(", "),
    verdict: [LEDGER.marks[mark.className]],
    words: [section.dataset.paper, section.id, LEDGER.texts[section.id].name, place.textContent,
      ...method.split(", ").map((name) => (LEDGER.aliases[name] ?? "").replace("_", "-")),
      set, method, ...Object.values(told).flat(2)]
      .join(" ").toLowerCase(),
  };
});
const byAddress = new Map(rows.map((row) => [row.address, row]));

// A cell and a sentence are links to themselves: they can be reached by key, copied and opened.
const linked = new Map();
for (const { address, place } of rows) {
  const inner = place.matches("td") ? place : place.querySelector("span");
  const link = document.createElement("a");
  link.href = `#${address}`;
  link.append(...inner.childNodes);
  inner.append(link);
  linked.set(address, link);
}

const percent = / \([^)]*%\)$/; // beside the paper's number, where a difference is one

const element = (name, text, ...children) => {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
};

const list = (pairs) => {
  const dl = document.createElement("dl");
  for (const [term, told] of pairs) {
    if (told) dl.append(element("dt", term), element("dd", "", told));
  }
  return dl;
};

const valuesOf = (values) => {
  if (!values.length) return "";
  const lines = values.map(([name, value]) =>
    element("tr", "", element("td", name), element("td", String(value))));
  return element("table", "", element("tbody", "", ...lines));
};

const panel = document.createElement("section");
panel.className = "ledger-row";
panel.tabIndex = -1;
let opened = null;

const close = () => {
  panel.remove();
  linked.get(opened?.address)?.removeAttribute("aria-current");
  opened = null;
};

const open = (row) => {
  close();
  opened = row;
  const text = LEDGER.texts[row.section.id];
  const { told } = row;
  const isNumber = row.place.matches("td");
  const [ours, said] = isNumber ? row.place.innerText.split("\n") : [];
  const small = row.place.querySelector("small")?.textContent ?? "";
  const cite = element("a", `ledger.html#${row.address}`);
  cite.href = `#${row.address}`;
  const shut = element("button", "Close");
  shut.type = "button";
  shut.addEventListener("click", () => {
    const back = linked.get(row.address);
    close();
    remember();
    back.focus();
  });
  const head = element("h3", `${row.paper[0]}, ${text.name}: ${told.row}`);
  const verdict = row.verdict[0];
  panel.setAttribute("aria-label", `Row: ${told.row}`);
  panel.replaceChildren(head, list([
    ["verdict", `${LEDGER.signs[verdict]} ${verdict}`],
    ["the paper", isNumber ? said.replace(percent, "") : told.row],
    ["ours", isNumber ? ours.replace(/ \S+$/, "") : small.slice(1, -1)],
    ["difference", told.difference],
    ["we assume", told.assumption],
    ["rule", told.rule],
    ["tolerance", told.tolerance],
    ["the rule lets pass", told["lets pass"]],
    ["reason", told.reason],
    ["by other assumptions", valuesOf(told.values)],
    ["data", told.data],
    ["source", text.source],
    ["made by", element("code", text.command)],
    ["function", element("code", `${text.function}, ${text.seconds} seconds in all`)],
    ["to cite", cite],
  ]), shut);
  row.section.open = true;
  const after = row.place.closest(".ledger-scroll") ?? row.place;
  if (row.place.matches("td")) after.after(panel);
  else after.append(panel);
  linked.get(row.address).setAttribute("aria-current", "true");
};

// The address: #address of a row, or #paper=tan2019&set=Leukemia, with &row=address when one is open.
const state = () => {
  const hash = decodeURIComponent(location.hash.slice(1));
  return hash.includes("=") ? new URLSearchParams(hash) : new URLSearchParams({ row: hash });
};

const remember = () => {
  const parts = new URLSearchParams();
  for (const name of FILTERS) if (form[name].value) parts.set(name, form[name].value);
  const filtered = parts.size > 0;
  if (opened) parts.set("row", opened.address);
  const hash = filtered ? `#${parts}` : opened ? `#${opened.address}` : "#";
  if (hash !== location.hash) history.replaceState(null, "", hash);
};

const chosen = () => FILTERS.filter((name) => form[name].value);
const fits = (row, name) => {
  const wanted = form[name].value;
  if (name !== "search") return row[name].includes(wanted);
  return wanted.toLowerCase().split(/\s+/).every((word) => row.words.includes(word));
};

const show = () => {
  const names = chosen();
  const found = new Set(rows.filter((row) => names.every((name) => fits(row, name))));
  for (const row of rows) {
    const out = !found.has(row);
    if (row.place.matches("td")) row.place.classList.toggle("ledger-out", out);
    else row.place.hidden = out;
  }
  for (const line of document.querySelectorAll("table.ledger tbody tr")) {
    line.hidden = !line.querySelector("td[id]:not(.ledger-out)");
  }
  for (const section of sections) {
    const within = rows.filter((row) => row.section === section && found.has(row));
    section.hidden = !within.length;
    section.open = names.length > 0 && within.length > 0 && found.size <= 150;
  }
  for (const paper of new Set(sections.map((section) => section.closest("section")))) {
    paper.hidden = !paper.querySelector("details.ledger-text:not([hidden])");
  }
  if (opened) opened.section.open = true;
  const [only] = found.size === 1 && !opened ? found : [];
  if (only) open(only); // what was looked for
  form.querySelector("output").textContent = `${found.size} of ${rows.length} rows`;
};

const go = () => {
  const wanted = state();
  const address = wanted.get("row");
  if (wanted.size > 1 || !address) {
    for (const name of FILTERS) form[name].value = wanted.get(name) ?? "";
  }
  show();
  const section = document.getElementById(address)?.closest("details.ledger-text");
  if (section) section.open = true;
  const row = byAddress.get(address);
  if (row) {
    open(row);
    remember();
    panel.focus({ preventScroll: true });
  } else close();
  const there = row ? linked.get(address) : chosen().length ? form : section;
  there?.scrollIntoView({ behavior: "instant", block: row ? "center" : "start" });
};

for (const name of FILTERS.slice(1)) {
  const values = new Set(rows.flatMap((row) => row[name]).filter(Boolean));
  form[name].append(new Option("all", ""), ...[...values].map((value) => new Option(value)));
}
form.addEventListener("input", () => {
  close();
  show();
  remember();
});
form.addEventListener("reset", () => setTimeout(() => {
  close();
  show();
  remember();
}));
form.addEventListener("submit", (event) => event.preventDefault());
panel.addEventListener("keydown", ({ key }) => key === "Escape" && panel.querySelector("button").click());
addEventListener("hashchange", go);
addEventListener("beforeprint", () => {
  for (const section of sections) section.open = !section.hidden;
});
form.hidden = false;
show();
addEventListener("load", () => setTimeout(go)); // later than the browser's own way to the address
}
