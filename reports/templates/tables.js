// The tables behind "Show the numbers": lines of what is chosen, sorting by a head, a filter by words, and for every
// time the line that measures it again.

// ---------------------------------------------------------------- what belongs to a method goes with it
// a column belongs to the method of its head
for (const head of all("main thead th[data-method], #matrix thead th[data-method]"))
  for (const row of head.closest("table").tBodies[0].rows)
    row.cells[head.cellIndex].dataset.method = head.dataset.method;

// so does a line whose cells name it
for (const table of all("main table"))
  for (const by of ["method", "other"]) {
    const head = table.tHead.rows[0].querySelector(`th[data-by="${by}"]`);
    if (head) for (const row of table.tBodies[0].rows) row.dataset[by] ??= row.cells[head.cellIndex].textContent.trim();
  }

function hideMethods() {
  for (const element of all("main [data-method]:not(.chart *, .heat *)")) {
    const { method, other } = element.dataset;
    element.classList.toggle("off", !shown(method) || (other !== undefined && !shown(other)));
  }
}

// ---------------------------------------------------------------- lines of what is chosen
const tables = all("main .num table, main .block table").filter((table, k, found) => found.indexOf(table) === k);
const chosenColumns = new Map(
  tables.map((table) => [
    table,
    [...table.tHead.rows[0].cells].filter((head) =>
      ["robot", "quantity", "mode", "code", "family"].includes(head.dataset.by),
    ),
  ]),
);

function chooseLines() {
  const family = $("family")?.value;
  const wanted = {
    robot: state.robot,
    quantity: D.quantities[state.quantity],
    mode: state.mode,
    code: state.code,
    family,
  };
  const modes = {
    engine: ["call", "unchecked"],
    "engine-batch": ["batch"],
    "engine-threads": ["threads"],
    loops: ["batch"],
  };
  const fits = (by, text) => {
    if (text === "–" || text === "any" || text === "") return true;
    if (by === "mode") return (modes[text] ?? [text]).includes(state.mode);
    return wanted[by] === undefined || text === wanted[by];
  };
  // a table that is always shown has the lines of the method that is looked at, beside those of engines
  const looked = (name) => !state.method || name === state.method || about[name]?.kind === "engine";
  put("derivatives-say", D.derivatives[key(state.robot, state.mode, state.code)] ?? `None were timed of ${state.robot} in this choice.`);
  for (const [table, heads] of chosenColumns) {
    if (!heads.length) continue;
    let kept = 0;
    for (const row of table.tBodies[0].rows) {
      const here =
        state.wide ||
        (heads.every((head) => fits(head.dataset.by, row.cells[head.cellIndex].firstChild?.textContent.trim() ?? "")) &&
          (!table.classList.contains("focus") || looked(row.dataset.method)));
      row.classList.toggle("elsewhere", !here);
      kept += here;
    }
    if (table.classList.contains("focus")) {
      table.closest(".scroll").hidden = !kept;
      table.classList.toggle("wide", state.wide);
    }
    const box = table.closest(".block").querySelector(".wide input");
    if (box) box.checked = state.wide;
    const count = table.closest(".block").querySelector(".count");
    if (count) count.textContent = `${kept} of ${table.tBodies[0].rows.length} lines`;
  }
}

// ---------------------------------------------------------------- sorting and filtering
function keyOf(row, index) {
  const cell = row.cells[index];
  const words = cell.dataset.value ?? cell.textContent.trim();
  return words === "" || Number.isNaN(Number(words)) ? words : Number(words);
}
function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "number") return -1; // numbers before what has none
  if (typeof b === "number") return 1;
  return a.localeCompare(b, "en", { numeric: true });
}
function sortBy(table, head) {
  const direction = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", direction);
  const sign = direction === "ascending" ? 1 : -1;
  const keyed = [...table.tBodies[0].rows].map((row) => [keyOf(row, head.cellIndex), row]);
  keyed.sort(([a], [b]) => (typeof a === typeof b ? sign * compare(a, b) : compare(a, b)));
  table.tBodies[0].append(...keyed.map(([, row]) => row));
}
function addTools(table) {
  const lines = [...table.tBodies[0].rows];
  const name = make("span", { class: "aside" }, ` ${table.caption.textContent}`);
  const input = make("input", { type: "search" });
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of lines) {
      const here = row.textContent.toLowerCase();
      row.classList.toggle("unmatched", !words.every((word) => here.includes(word)));
    }
  });
  const box = make("input", { type: "checkbox", on: { change: (event) => set({ wide: event.target.checked }) } });
  const wide = chosenColumns.get(table).length
    ? [
        make("label", { class: "wide" }, box, "the whole run", name.cloneNode(true)),
        make("span", { class: "count", role: "status" }),
      ]
    : null;
  table
    .closest(".scroll")
    .before(make("div", { class: "filter" }, make("label", {}, "Filter", name, " ", input), wide));
}

// every time can be measured again: the buttons come from the cells of its line
function addAgain(table) {
  const heads = [...table.tHead.rows[0].cells];
  const at = (by) => heads.findIndex((head) => head.dataset.by === by);
  const columns = {
    robot: at("robot"),
    method: at("method"),
    quantity: at("quantity"),
    mode: at("mode"),
    code: at("code"),
  };
  const names = Object.fromEntries(Object.entries(D.quantities).map(([name, words]) => [words, name]));
  table.tHead.rows[0].append(make("th", { scope: "col" }, "run it again"));
  for (const row of table.tBodies[0].rows) {
    const cell = (name) => row.cells[columns[name]]?.textContent.trim();
    const again = () => {
      const mode = cell("mode");
      const rows = Number(row.cells[columns.mode + 1].textContent);
      const ours = { engine: "unchecked", "engine-batch": "batch", "engine-threads": "threads" }[mode] ?? mode;
      const code = columns.code >= 0 && cell("code") !== "–" ? cell("code") : "";
      const common = {
        robot: D.sources[cell("robot")] ?? cell("robot"),
        method: row.dataset.method,
        quantity: names[cell("quantity")],
      };
      return {
        command: template("time", {
          ...common,
          mode: ours,
          rows: new Code(BATCHES.includes(ours) ? ` --rows ${rows}` : ""),
          code: new Code(code ? ` --code ${shell(code)}` : ""),
          seed: new Code(D.seed ? ` --seed ${D.seed}` : ""),
        }),
        python: template("time_python", {
          ...common,
          mode,
          rows,
          seed: D.seed,
          code: new Code(code ? `, code=${JSON.stringify(code)}` : ""),
        }),
      };
    };
    const label = (what) =>
      `Copy ${what} of ${row.dataset.method}, ${cell("quantity")} of ${cell("robot")}, ${cell("mode")}`;
    const button = (words, what, pick) =>
      make(
        "button",
        {
          type: "button",
          "aria-label": label(what),
          on: { click: (event) => copy(pick(again()), event.currentTarget) },
        },
        words,
      );
    row.append(
      make(
        "td",
        {},
        make(
          "span",
          { class: "again" },
          button("command", "the command", (a) => a.command),
          button("Python", "the Python", (a) => a.python),
        ),
      ),
    );
  }
}

function prepareTables() {
  for (const table of tables) {
    if (table.caption.textContent === "Times of one state") addAgain(table);
    if (table.dataset.rove !== undefined) {
      for (const dot of all(".dot", table)) dot.closest("td, th").dataset.tip = dot.dataset.tip;
      rove(table, "td");
    }
    if (table.tBodies[0].rows.length < 2) continue;
    for (const head of table.tHead.rows[0].cells) {
      if (!head.textContent.trim()) continue;
      const button = make("button", { type: "button" }, ...head.childNodes);
      button.addEventListener("click", () => sortBy(table, head));
      head.append(button);
    }
    if (table.tBodies[0].rows.length > 5) addTools(table);
  }
}

// what scrolls can be reached by the keyboard; what does not is no extra stop
function markScrollers() {
  for (const box of all(".scroll")) {
    const scrolls = box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1;
    if (scrolls && box.dataset.label) {
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", box.dataset.label);
    } else for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
  }
}

// ---------------------------------------------------------------- charts and figures as files
const lightColours = () => document.styleSheets[0].cssRules[0].style; // :root
function standalone(svg) {
  const copy = svg.cloneNode(true);
  for (const element of all(".off, .halo, .hit", copy)) element.remove();
  copy.setAttribute("xmlns", SVG);
  if (!copy.getAttribute("width")) {
    const [, , width, height] = copy.getAttribute("viewBox").split(" ");
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
  }
  const live = all("text, tspan", svg);
  all("text, tspan", copy).forEach((element, k) => {
    const style = getComputedStyle(live[k]);
    if (svg.closest(".chart")) element.setAttribute("font-size", style.fontSize);
  });
  if (svg.closest(".chart")) {
    copy.setAttribute("font-family", "DejaVu Sans, system-ui, sans-serif");
    for (const rule of all(".rule", copy)) rule.setAttribute("stroke", "var(--line)");
    for (const faint of all(".dim", copy)) faint.setAttribute("opacity", "0.4");
  }
  const light = lightColours();
  return new XMLSerializer()
    .serializeToString(copy)
    .replace(/var\((--[\w-]+)\)/g, (_, name) => light.getPropertyValue(name).trim());
}
function csvOf(svg) {
  const quote = (words) => (/[",\n]/.test(words) ? `"${words.replaceAll('"', '""')}"` : words);
  const safe = (words) => quote(/^[=+\-@\t\r']/.test(words) && Number.isNaN(Number(words)) ? `'${words}` : words);
  const lines = all("[data-tip][data-method]", svg).map((g) => [
    g.dataset.method,
    g.dataset.other ?? "",
    g.dataset.tip.split("\n").slice(1).join("; "),
  ]);
  return ["method,other,values", ...lines.map((cells) => cells.map(safe).join(","))].join("\n") + "\n";
}
function addDownloads() {
  for (const button of all("[data-svg]"))
    button.addEventListener("click", () => {
      const name = button.dataset.svg;
      const svg = (document.querySelector(`[data-figure="${CSS.escape(name)}"]`) ?? $(name))?.querySelector("svg");
      if (svg) save(`${name}.svg`, "image/svg+xml", standalone(svg));
    });
  for (const button of all("[data-csv]"))
    button.addEventListener("click", () => {
      const name = button.dataset.csv;
      const stored = D.figures[name]?.csv;
      const svg = $(name)?.querySelector("svg");
      if (stored ?? svg) save(`${name}.csv`, "text/csv", stored ?? csvOf(svg));
    });
}
