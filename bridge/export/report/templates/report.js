"use strict";
// A click on a heading sorts the rows, a second one downwards. Cells without a value stand last.
function sortable(table) {
  const body = table.tBodies[0];
  const value = (row, at) => {
    const cell = row.cells[at];
    const text = cell.dataset.value ?? cell.textContent.trim();
    return text === "" || text === "-" ? null : text;
  };
  const compare = (a, b) => {
    const difference = Number(a) - Number(b);
    return Number.isNaN(difference) ? a.localeCompare(b, "en", { numeric: true }) : difference;
  };
  [...table.tHead.rows[0].cells].forEach((heading, at) => {
    heading.querySelector("button").addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      const rows = [...body.rows].sort((one, other) => {
        const [a, b] = [value(one, at), value(other, at)];
        if (a === null || b === null) return (a === null) - (b === null);
        return down ? compare(b, a) : compare(a, b);
      });
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      body.append(...rows);
    });
  });
}
// The form above a table hides the rows that it does not ask for.
function filtered(form, table) {
  const rows = [...table.tBodies[0].rows];
  const shows = (row) => {
    const { text, verdict, scope, all, errata } = form.elements;
    if (all && !all.checked && row.classList.contains("intermediate")) return false;
    if (verdict && verdict.value && !row.dataset.verdicts.split("|").includes(verdict.value)) return false;
    if (scope && scope.value && row.dataset.scope !== scope.value) return false;
    if (errata && errata.checked && !row.dataset.errata) return false;
    const searched = table.classList.contains("overview") ? row.textContent : row.cells[0].textContent;
    return searched.toLowerCase().includes(text.value.trim().toLowerCase());
  };
  const update = () => {
    for (const row of rows) row.hidden = !shows(row);
    const left = rows.filter((row) => !row.hidden).length;
    form.querySelector("output").textContent = `${left} of ${rows.length} rows`;
  };
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  update();
}
document.querySelectorAll("table.sortable").forEach((table) => {
  sortable(table);
  filtered(table.closest("section").querySelector("form.filters"), table);
});
// What scrolls sideways can be reached by the keyboard.
const reachable = () => document.querySelectorAll(".scroll, .display, p, li, dd, h3").forEach((box) => {
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  else box.removeAttribute("tabindex");
});
addEventListener("resize", reachable);
document.querySelectorAll("details").forEach((each) => each.addEventListener("toggle", reachable));
reachable();
// On paper everything is open.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((each) => { each.open = true; }));
