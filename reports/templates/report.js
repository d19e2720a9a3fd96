"use strict";
// The page: data, state in the address, tooltips, and the answer at its top. Who is fastest, what is tied and what is
// said about it comes from the data; nothing is judged here. Without this script the tables remain.

// ---------------------------------------------------------------- small helpers
const $ = (id) => document.getElementById(id);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, action] of Object.entries(value)) element.addEventListener(event, action);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}
const make = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const SVG = "http://www.w3.org/2000/svg";
const draw = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const put = (id, ...children) => {
  const element = $(id);
  if (!element) return;
  element.replaceChildren();
  fill(element, {}, children);
};

const list = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`);
const three = (x) => (x >= 1000 ? String(Math.round(x)) : String(Number(x.toPrecision(3))));
function time(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  for (const [limit, factor, unit] of [
    [1e-6, 1e9, "ns"],
    [1e-3, 1e6, "µs"],
    [1, 1e3, "ms"],
  ])
    if (seconds < limit) return `${three(seconds * factor)} ${unit}`;
  return `${three(seconds)} s`;
}
function times(ratio) {
  if (ratio === null || ratio === undefined) return "–";
  if (ratio < 1.095 && ratio.toFixed(2) !== "1.00" && ratio > 0.905) return ratio.toFixed(2);
  return ratio < 9.95
    ? ratio.toFixed(1).replace(/\.0$/, "")
    : ratio < 9950
      ? ratio.toFixed(0)
      : `${(ratio / 1000).toFixed(0)}k`;
}
const range = (low, high) => (low === null || high === null ? "" : ` [${three(low)} to ${three(high)}]`);
const digits = (error) => (error > 0 ? Math.max(0, Math.floor(-Math.log10(error))) : 16);
const percent = (share) => `${Number((100 * share).toPrecision(2))} %`;
const scientific = (x) => (x === null || x === undefined ? "–" : x === 0 ? "0" : x.toExponential(1).replace("e+0", ""));
const breakable = (name) => name.replace(/-/g, "-\u200b");

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", { readonly: true }, text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.dataset.label ??= button.textContent;
  button.textContent = "Copied";
  button.dataset.copied = text;
  setTimeout(() => (button.textContent = button.dataset.label), 1400);
}
const copyButton = (label, text, key) =>
  make(
    "button",
    { type: "button", "data-key": key, on: { click: (event) => copy(text(), event.currentTarget) } },
    label,
  );

function save(name, type, text) {
  const link = make("a", { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// ---------------------------------------------------------------- data
async function unpacked() {
  const bytes = Uint8Array.from(atob($("data").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}
const data = unpacked();
let D = null; // once it is unpacked
const about = {}; // methods by name
const key = (...parts) => parts.join("\n");
const EMPTY = { fastest: [], best: null, said: [], entries: [] };
const viewOf = (robot, quantity = state.quantity, mode = state.mode) =>
  D.views[key(robot, quantity, mode, state.code)] ?? EMPTY;
const shown = (name) => !state.hidden.has(name);
const agreementOf = (robot, method, quantity = state.quantity) =>
  D.agreement[key(robot, quantity, state.code)]?.[method];
const countsOf = () => D.counts[key(state.robot, state.quantity, state.code)];

// the entry that stands for a method: of an engine, its own call
function entryOf(view, method) {
  const mine = view.entries.filter((entry) => entry.method === method && entry.kind !== "again");
  return mine.find((entry) => entry.kind === "own") ?? mine[0];
}

// ---------------------------------------------------------------- how to run something again
const shell = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${String(text).replace(/'/g, `'"'"'`)}'`);
class Code extends String {}
function template(name, values) {
  return D.again[name].replace(/\{(\w+)(!r)?\}/g, (_, field, python) => {
    const value = values[field];
    if (value instanceof Code) return value;
    if (!python) return shell(String(value));
    return value === true ? "True" : value === false ? "False" : JSON.stringify(value);
  });
}
const BATCHES = ["batch", "threads", "engine-batch", "engine-threads"];
function timeAgain(entry, mode) {
  const { rows } = D.modes[mode];
  const code = entry.code ?? "";
  const common = { robot: D.sources[state.robot] ?? state.robot, method: entry.method, quantity: state.quantity };
  return {
    command: template("time", {
      ...common,
      mode,
      rows: new Code(BATCHES.includes(mode) ? ` --rows ${rows}` : ""),
      code: new Code(code ? ` --code ${shell(code)}` : ""),
      seed: new Code(D.seed ? ` --seed ${D.seed}` : ""),
    }),
    python: template("time_python", {
      ...common,
      mode: entry.mode ?? mode,
      rows,
      seed: D.seed,
      code: new Code(code ? `, code=${JSON.stringify(code)}` : ""),
    }),
  };
}
const tierOf = (code) => new Code(code ? `, code=${JSON.stringify(code)}` : "");
function checkAgain(pair) {
  const state_ = pair.state ?? 0;
  const forces = pair.tau ? `inputs["tau"][${state_}] = ${JSON.stringify(pair.tau)}\n` : "";
  const values = {
    robot: D.sources[state.robot] ?? state.robot,
    method: pair.method,
    other: pair.other,
    quantity: state.quantity,
    states: pair.states,
    seed: pair.seed,
    state: state_,
    component: pair.component ?? 0,
    wrench: pair.measure.includes("wrenches"),
    forces: new Code(forces),
    code: tierOf(pair.code),
    other_code: tierOf(pair.other_code),
  };
  return { command: template("check", values), python: template("check_python", values) };
}

// ---------------------------------------------------------------- state, kept in the address
const state = {
  robot: "",
  quantity: "",
  mode: "",
  code: "",
  method: "",
  family: "",
  pair: "",
  claim: "",
  show: "",
  problem: "",
  timed: "",
  at: "",
  hidden: new Set(),
  wide: false,
};
const FREE = ["family", "pair", "claim", "show", "problem", "timed", "at"];

function readState() {
  const given = new URLSearchParams(location.hash.slice(1));
  const one = (name, allowed, otherwise) => (allowed.includes(given.get(name)) ? given.get(name) : otherwise);
  const [robot, quantity, mode, code] = D.first;
  state.robot = one("robot", Object.keys(D.robots), robot);
  state.quantity = one("quantity", Object.keys(D.quantities), quantity);
  state.mode = one("mode", Object.keys(D.modes), mode);
  state.code = one("code", D.codes, code);
  state.method = one("method", Object.keys(about), "");
  for (const name of FREE) state[name] = given.get(name) ?? "";
  state.hidden = new Set((given.get("hide") ?? "").split(",").filter((name) => name in about));
  state.wide = given.get("all") === "1";
  // a plain link to a section
  if (!location.hash.includes("=") && location.hash.length > 1) state.at = decodeURIComponent(location.hash.slice(1));
}

function writeState() {
  const kept = new URLSearchParams();
  for (const name of ["robot", "quantity", "mode"]) if (state[name]) kept.set(name, state[name]);
  if (D.codes.length > 1) kept.set("code", state.code);
  for (const name of ["method", ...FREE]) if (state[name]) kept.set(name, state[name]);
  if (state.hidden.size) kept.set("hide", [...state.hidden].join(","));
  if (state.wide) kept.set("all", "1");
  history.replaceState(null, "", `#${kept}`);
}

function set(change) {
  if (change.robot !== undefined && change.robot !== state.robot) Object.assign(state, { pair: "", family: "" });
  if (["robot", "quantity", "mode", "code"].some((name) => name in change)) state.timed = "";
  Object.assign(state, change);
  writeState();
  update();
}

// ---------------------------------------------------------------- tooltips: on hovering, on focus, on a tap
let tipped = null;
function showTip(element) {
  const text = element.dataset.tip;
  if (!text) return;
  tipped = element;
  const tip = $("tip");
  tip.textContent = text;
  tip.hidden = false;
  const at = element.getBoundingClientRect();
  const own = tip.getBoundingClientRect();
  const middle = at.left + Math.min(at.width, 300) / 2 - own.width / 2;
  tip.style.left = `${Math.max(6, Math.min(innerWidth - own.width - 6, middle))}px`;
  tip.style.top = `${at.top - own.height - 7 > 4 ? at.top - own.height - 7 : at.bottom + 7}px`;
}
const hideTip = () => ($("tip").hidden = true);
for (const [on, off] of [
  ["pointerover", "pointerout"],
  ["focusin", "focusout"],
]) {
  document.addEventListener(on, (event) => {
    const element = event.target.closest?.("[data-tip]");
    if (element) showTip(element);
  });
  document.addEventListener(off, hideTip);
}
addEventListener(
  "scroll",
  () => {
    if (tipped?.isConnected && tipped.matches(":hover, :focus")) showTip(tipped);
    else hideTip();
  },
  { passive: true },
);

// one tab stop for a grid of cells, arrows move within
function rove(root, selector) {
  const rows = all("tbody tr", root)
    .map((row) => all(selector, row))
    .filter((row) => row.length);
  const cells = rows.flat();
  for (const cell of cells) cell.tabIndex = -1;
  if (cells.length) (cells.find((cell) => cell.classList.contains("chosen")) ?? cells[0]).tabIndex = 0;
  root.onkeydown = (event) => {
    const now = document.activeElement;
    const y = rows.findIndex((row) => row.includes(now));
    if (y < 0) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      now.click();
      return;
    }
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const x = rows[y].indexOf(now);
    const row = rows[Math.max(0, Math.min(rows.length - 1, y + step[0]))];
    const next = row[Math.max(0, Math.min(row.length - 1, x + step[1]))];
    now.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  };
}

// ---------------------------------------------------------------- how methods look, as in the figures on paper
const SHAPES = {
  o: "M5 0A5 5 0 1 1 -5 0A5 5 0 1 1 5 0Z",
  s: "M-4.4 -4.4H4.4V4.4H-4.4Z",
  "^": "M0 -5.5L5.2 4.2H-5.2Z",
  v: "M0 5.5L5.2 -4.2H-5.2Z",
  D: "M0 -6L6 0L0 6L-6 0Z",
  P: "M-2 -5.5H2V-2H5.5V2H2V5.5H-2V2H-5.5V-2H-2Z",
  X: "M-5 -2.6L-2.6 -5L0 -2.4L2.6 -5L5 -2.6L2.4 0L5 2.6L2.6 5L0 2.4L-2.6 5L-5 2.6L-2.4 0Z",
  "<": "M-5.5 0L4.2 -5.2V5.2Z",
  ">": "M5.5 0L-4.2 -5.2V5.2Z",
  p: "M0 -5.8L5.5 -1.8L3.4 4.7H-3.4L-5.5 -1.8Z",
  h: "M0 -5.8L5 -2.9V2.9L0 5.8L-5 2.9V-2.9Z",
  "*": "M0 -6.5L1.7 -2.2L6.2 -2L2.7 .9L3.8 5.3L0 2.8L-3.8 5.3L-2.7 .9L-6.2 -2L-1.7 -2.2Z",
};
const colour = (name) => `var(--c${about[name]?.place ?? 7})`;
const mark = (name, x, y, hollow = false) =>
  draw("path", {
    d: SHAPES[about[name]?.marker ?? "o"],
    transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
    fill: hollow ? "var(--page)" : colour(name),
    stroke: hollow ? colour(name) : "var(--page)",
    "stroke-width": hollow ? 1.6 : 1,
  });
const icon = (name) => draw("svg", { class: "mk", viewBox: "-7 -7 14 14", "aria-hidden": "true" }, mark(name, 0, 0));

// ---------------------------------------------------------------- the answer
function drawAnswer() {
  const view = viewOf(state.robot);
  const said = view.said.length ? view.said : [`Nothing was run on ${state.robot} for this choice.`];
  const hidden = view.fastest.filter((name) => !shown(name));
  const end = Math.max(0, said[0].indexOf(" is the fastest"), said[0].indexOf(" are tied"));
  const lead = [make("strong", {}, said[0].slice(0, end)), said[0].slice(end)];
  put(
    "verdict",
    make("p", {}, lead, " ", hidden.length ? `(${list(hidden)}: hidden by the choice of methods.)` : null),
    make("p", {}, said.slice(1).filter(Boolean).join(" ")),
    state.method ? make("p", {}, make("strong", {}, `${state.method}: `), aboutMethod(view)) : null,
  );
  put("cards", Object.keys(D.modes).map(card));
}

function aboutMethod(view) {
  const entry = entryOf(view, state.method);
  if (!entry?.time) return `${entry?.reason ?? "not measured in this run"}.`;
  const parts = [];
  const [ratio, low, high] = entry.ratio;
  if (entry.outcome) parts.push(`${time(entry.time[0])} a state, disturbed and not judged`);
  else if (view.only && view.fastest[0] === state.method) parts.push("the only formulation timed here");
  else if (view.fastest[0] === state.method) parts.push(view.fastest.length > 1 ? "tied for the fastest" : "the fastest");
  else parts.push(`${times(ratio)} times the fastest${range(low, high)}`);
  if (view.fastest.indexOf(state.method) > 0) parts.push("tied for the fastest");
  if (entry.called) parts.push(`what was called: ${entry.called}`);
  const counted = countsOf()?.of;
  const best = view.fastest[0];
  if (counted?.[state.method] && counted[best] && best !== state.method)
    parts.push(`${(counted[state.method][5] / counted[best][5]).toFixed(2)} times the operations of ${best}`);
  const agreed = agreementOf(state.robot, state.method);
  if (agreed) parts.push(agreementText(state.method, agreed));
  return `${parts.join("; ")}.`;
}
const agreementText = (name, [typical, worst, partner, differs]) =>
  differs
    ? `disagrees with ${partner} by ${scientific(worst)}`
    : about[name].exact
      ? `agrees to ${digits(typical)} digits (worst ${digits(worst)}, with ${partner === name ? "its generic code" : partner})`
      : `approximate by design: differs from exact methods by ${percent(typical)}`;

function card(mode) {
  const view = viewOf(state.robot, state.quantity, mode);
  const best = view.fastest[0];
  const others = view.fastest.slice(1);
  const { use, phrase } = D.modes[mode];
  const tip = `${phrase}.${others.length ? `\nTied: ${list(view.fastest)}.` : ""}\nChoose it to see it below.`;
  const entry = best && entryOf(view, best);
  const tied = others.length
    ? `tied with ${others.length > 1 ? `${others.length} others` : others[0]}`
    : view.only
      ? "no other timed"
      : "alone in front";
  return make(
    "button",
    {
      class: "card",
      type: "button",
      "data-key": `card-${mode}`,
      "data-tip": tip,
      "aria-pressed": String(mode === state.mode),
      on: { click: () => set({ mode }) },
    },
    make("span", { class: "k" }, use),
    make("span", { class: "v" }, best ? [icon(best), best] : "no winner"),
    entry?.called ? make("span", { class: "t" }, entry.called) : null,
    best ? make("span", { class: "t" }, `${time(view.best)} a state, ${tied}`) : null,
  );
}

// ---------------------------------------------------------------- the matrix: robots by methods
const STEPS = [1.2, 2, 5, 20, 100, Infinity];
const STEP_NAMES = ["≤ 1.2", "≤ 2", "≤ 5", "≤ 20", "≤ 100", "> 100"];
const HEADS = 64; // pixels of a column from which its name stands upright

function matrixCell(robot, name, view) {
  const entry = entryOf(view, name);
  const choose = { click: () => set({ robot, method: state.robot === robot && state.method === name ? "" : name }) };
  const chosen = robot === state.robot && name === state.method ? " chosen" : "";
  const attributes = (look, text) => ({
    class: `cell ${look}${chosen}`,
    "data-tip": text,
    "aria-label": text.replaceAll("\n", ", "),
    on: choose,
    "data-robot": robot,
    "data-method": name,
  });
  if (!entry?.time) {
    const why = entry?.reason ?? "not measured in this run";
    const lost = entry?.outcome && !["unsupported", "left out"].includes(entry.outcome);
    const text = `${name}, ${robot}: ${entry?.outcome ?? "no result"}\n${why}`;
    return make("td", attributes(lost ? "lost" : "none", text), lost ? entry.outcome : null);
  }
  const [ratio, low, high] = entry.ratio;
  const agreed = agreementOf(robot, name);
  const best = view.fastest.length === 1 && view.fastest[0] === name;
  const tied = !best && view.fastest.includes(name);
  const disturbed = entry.outcome === "disturbed";
  const { exact } = about[name];
  const lines = [`${name}, ${robot}`, `${time(entry.time[0])} a state${timeRange(entry)}`];
  if (disturbed) lines.push(`disturbed, not judged: ${entry.reason}`);
  else if (best) lines.push("the fastest");
  else lines.push(`${times(ratio)} times the fastest${range(low, high)}${tied ? ": tied" : ""}`);
  if (entry.called) lines.push(`what was called: ${entry.called}`);
  if (agreed) lines.push(agreementText(name, agreed));
  if (!exact) lines.push("not ranked");
  const wrapper = entry.kind === "wrapper";
  if (wrapper) lines.push("our wrapper is not ranked");
  const look = disturbed ? "disturbed" : best ? "best" : tied ? "tied" : exact && !wrapper ? "" : "approximate";
  const step = ratio === null ? 5 : STEPS.findIndex((limit) => ratio <= limit);
  const below = agreed ? (agreed[3] ? "≠" : exact ? digits(agreed[0]) : `≈${percent(agreed[0])}`) : null;
  return make(
    "td",
    attributes(`b${step} ${look}`, lines.join("\n")),
    times(ratio),
    below === null ? null : make("i", { "aria-hidden": "true" }, below),
  );
}
const timeRange = (entry) => (entry.time[1] === null ? "" : ` [${time(entry.time[1])} to ${time(entry.time[2])}]`);

function drawMatrix() {
  if (!$("matrix") || !Object.keys(D.views).length) return;
  const robots = Object.keys(D.robots);
  const views = Object.fromEntries(robots.map((robot) => [robot, viewOf(robot)]));
  const timed = (name) => robots.some((robot) => entryOf(views[robot], name)?.time);
  const lost = (name) =>
    robots.some((robot) => {
      const entry = entryOf(views[robot], name);
      return entry?.outcome && !["unsupported", "left out"].includes(entry.outcome);
    });
  const groups = ["general", "special", "engine"]
    .map((kind) => [D.groups[kind], D.methods.filter((m) => m.kind === kind && shown(m.name)).map((m) => m.name)])
    .map(([title, names]) => [title, names.filter((name) => timed(name) || lost(name))])
    .filter(([, names]) => names.length);
  const width = $("matrix").clientWidth;
  const count = groups.reduce((sum, [, names]) => sum + names.length, 0);
  const narrow = width < 1000;
  const upright = (width - 160) / count >= HEADS;
  const caption = make(
    "caption",
    {},
    make("b", {}, "Time relative to the fastest"),
    ` ${D.quantities[state.quantity]}, ${D.modes[state.mode].phrase}${D.codes.length > 1 ? `, ${state.code} code` : ""}`,
  );
  const robotHead = (robot) =>
    make(
      "button",
      {
        type: "button",
        "data-key": `robot-${robot}`,
        "aria-pressed": String(robot === state.robot),
        on: { click: () => set({ robot }) },
      },
      breakable(robot),
      " ",
      narrow ? null : make("small", { "data-tip": "degrees of freedom" }, String(D.robots[robot])),
    );
  const methodHead = (name) => ({ "data-tip": `${about[name].title}\n${about[name].reference}` });
  const label = (name) => make("span", { class: "name" }, icon(name), make("span", {}, breakable(name)));
  const on = (name) => (name === state.method ? "on" : "");
  const heat = (columns, head, lines) =>
    make(
      "table",
      { class: "heat" },
      caption,
      make("colgroup", {}, columns),
      make("thead", {}, head),
      make("tbody", {}, lines),
    );
  let table;
  if (narrow) {
    const tight = width < 560;
    table = heat(
      [make("col", { style: "width: 27%" }), robots.map(() => make("col"))],
      make(
        "tr",
        {},
        make("td"),
        robots.map((robot) =>
          make(
            "th",
            { scope: "col", class: `${tight ? "up " : ""}${robot === state.robot ? "on" : ""}` },
            tight ? make("span", { class: "name" }, robotHead(robot)) : robotHead(robot),
          ),
        ),
      ),
      groups.map(([title, names]) => [
        make("tr", {}, make("th", { class: "group", scope: "colgroup", colspan: robots.length + 1 }, title)),
        names.map((name) =>
          make(
            "tr",
            {},
            make(
              "th",
              { scope: "row", class: on(name), ...methodHead(name) },
              tight ? null : [icon(name), " "],
              breakable(name),
            ),
            robots.map((robot) => matrixCell(robot, name, views[robot])),
          ),
        ),
      ]),
    );
  } else {
    const between = (tag) => (_, k) => (k ? make(tag, { class: "gap" }) : null);
    table = heat(
      [
        make("col", { style: "width: 150px" }),
        groups.map(([, names], k) => [k ? make("col", { style: "width: 8px" }) : null, names.map(() => make("col"))]),
      ],
      [
        make(
          "tr",
          {},
          make("td"),
          groups.map(([title, names], k) => [
            between("td")(null, k),
            make("th", { class: "group", scope: "colgroup", colspan: names.length, "data-tip": title }, title),
          ]),
        ),
        make(
          "tr",
          {},
          make("th", { scope: "col", style: "text-align: left; color: var(--soft)" }, "robot, freedoms"),
          groups.map(([, names], k) => [
            between("td")(null, k),
            names.map((name) =>
              make(
                "th",
                { scope: "col", class: `${upright ? "" : "up "}${on(name)}`, ...methodHead(name) },
                label(name),
              ),
            ),
          ]),
        ),
      ],
      robots.map((robot) =>
        make(
          "tr",
          { class: robot === state.robot ? "on" : null },
          make("th", { scope: "row" }, robotHead(robot)),
          groups.map(([, names], k) => [
            between("td")(null, k),
            names.map((name) => matrixCell(robot, name, views[robot])),
          ]),
        ),
      ),
    );
  }
  const absent = D.methods.filter((m) => m.kind === "engine" && shown(m.name) && !timed(m.name)).map((m) => m.name);
  const box = (look) => make("span", { class: `box ${look}` });
  put(
    "matrix",
    make("div", { class: "scroll" }, table),
    make(
      "ul",
      { class: "legend", "aria-label": "Legend" },
      make(
        "li",
        {},
        "times the fastest ",
        make(
          "span",
          { class: "sw" },
          STEP_NAMES.map((name, k) => make("span", { class: `b${k}` }, name)),
        ),
      ),
      make("li", {}, box(""), " fastest"),
      make("li", {}, box("tied"), " tied: no difference"),
      make("li", {}, box("approximate"), " approximate, not ranked"),
      make("li", {}, box("disturbed"), " disturbed"),
      width < 560 ? null : make("li", {}, "below: digits that agree"),
      make("li", {}, "• no result: point at it for the reason"),
      absent.length ? make("li", {}, `no time of ${list(absent)}`) : null,
    ),
  );
  rove($("matrix"), "td.cell");
}
