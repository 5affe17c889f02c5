const root = document.documentElement;
const specifications = JSON.parse(document.getElementById("specifications").textContent);
const button = document.getElementById("theme");

function stored() {
  try { return localStorage.getItem("theme"); } catch { return null; }
}

function colours() {
  const style = getComputedStyle(root);
  const ink = style.getPropertyValue("--ink").trim();
  const line = style.getPropertyValue("--line").trim();
  const text = { labelColor: ink, titleColor: ink };
  return {
    background: "transparent",
    title: { color: ink },
    axis: { ...text, gridColor: line, domainColor: line, tickColor: line },
    legend: text,
    text: { color: ink },
    view: { stroke: line },
  };
}

// A drawing is as wide as the page leaves room for; the height stays.
async function draw(place) {
  const specification = structuredClone(specifications[place.dataset.figure]);
  specification.width = "container";
  specification.autosize = { type: "fit-x", contains: "padding" };
  await vegaEmbed(place, specification, { renderer: "svg", actions: false, config: colours() });
}

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting && !entry.target.dataset.drawn) {
      entry.target.dataset.drawn = "yes";
      draw(entry.target).catch((error) => { entry.target.textContent = String(error); });
    }
  }
}, { rootMargin: "600px" });
const places = [...document.querySelectorAll(".drawing")];

function theme(name) {
  root.dataset.theme = name;
  button.textContent = name === "dark" ? "Light" : "Dark";
  button.setAttribute("aria-pressed", String(name === "dark"));
  for (const place of places) {
    if (place.dataset.drawn) draw(place);
  }
}

button.addEventListener("click", () => {
  const next = root.dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem("theme", next); } catch { /* a page from a file may not store */ }
  theme(next);
});
theme(stored() ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
for (const place of places) seen.observe(place);

addEventListener("beforeprint", () => {
  for (const place of places) if (!place.dataset.drawn) { place.dataset.drawn = "yes"; draw(place); }
  for (const each of document.querySelectorAll("details")) each.open = true;
});

function value(row, at) {
  const cell = row.cells[at];
  return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
}

for (const head of document.querySelectorAll("th")) {
  head.firstElementChild.addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const body = head.closest("table").tBodies[0];
    const at = head.cellIndex;
    const rows = [...body.rows].sort((one, other) => {
      const [a, b] = [value(one, at), value(other, at)];
      const order = typeof a === "number" && typeof b === "number"
        ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
      return up ? order : -order;
    });
    body.append(...rows);
  });
}
