// The ledger's filters: each is a choice among the values that occur, "all" first.
"use strict";

const form = document.querySelector(".ledger-filter");
const rows = [...document.querySelectorAll("table.ledger tbody tr")].map((element) => {
  const id = element.closest("table").dataset.id;
  const { verdict, method } = element.dataset;
  return { element, id, paper: id.split("_")[0], verdict, method: method.split(", ") };
});
const folds = [...new Set(rows.map((row) => row.element.closest("details.sd-dropdown")))];
const choices = ["paper", "id", "verdict", "method"];

const chosen = () => choices.filter((name) => form[name].value);
const fits = (row, name) => [row[name]].flat().includes(form[name].value);

const show = () => {
  let count = 0;
  for (const row of rows) {
    row.element.hidden = !chosen().every((name) => fits(row, name));
    count += !row.element.hidden;
  }
  for (const fold of folds) {
    fold.hidden = !fold.querySelector("table.ledger tbody tr:not([hidden])");
    fold.open = chosen().length > 0 && count <= 100 && !fold.hidden;
  }
  form.querySelector("output").textContent = `${count} of ${rows.length} rows`;
};

for (const name of choices) {
  const values = new Set(rows.flatMap((row) => row[name]).filter(Boolean));
  form[name].append(new Option("all", ""), ...[...values].map((value) => new Option(value)));
}
form.addEventListener("input", show);
form.hidden = false;
show();
