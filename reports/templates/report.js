"use strict";
// The page is complete without this script; with it, tables sort and filter, methods switch off, robots move.

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

// Cases, motions and the data of figures: nothing that could be read without a script, so it is packed.
async function unpacked() {
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}
const data = unpacked();

// ---------------------------------------------------------------- methods on and off, everywhere at once
// a column belongs to the method of its head
for (const head of all("thead th[data-method]"))
  for (const row of head.closest("table").tBodies[0].rows) row.cells[head.cellIndex].dataset.method = head.dataset.method;

const boxes = all("#methods input");
const tagged = all("[data-method]");

function showMethods() {
  const hidden = new Set(boxes.filter((box) => !box.checked).map((box) => box.value));
  for (const element of tagged) {
    const { method, other } = element.dataset;
    element.classList.toggle("off", hidden.has(method) || (other !== undefined && hidden.has(other)));
  }
  const count = boxes.length - hidden.size;
  if (boxes.length)
    document.getElementById("shown").textContent = hidden.size ? `${count} of ${boxes.length}` : `all ${count}`;
}

function setAll(checked) {
  for (const box of boxes) box.checked = checked;
  showMethods();
}

for (const box of boxes) box.addEventListener("change", showMethods);
document.getElementById("all")?.addEventListener("click", () => setAll(true));
document.getElementById("none")?.addEventListener("click", () => setAll(false));

// ---------------------------------------------------------------- tables that sort and filter
function keyOf(row, index) {
  const cell = row.cells[index];
  const text = cell.dataset.value ?? cell.textContent.trim();
  return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
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

function addFilter(table) {
  const rows = [...table.tBodies[0].rows];
  const input = make("input", { type: "search" });
  const count = make("span", { role: "status" });
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const match = words.every((word) => text.includes(word));
      row.classList.toggle("unmatched", !match);
      shown += match;
    }
    count.textContent = words.length ? `${shown} of ${rows.length} lines` : "";
  });
  const what = make("span", { className: "aside", textContent: ` ${table.caption.textContent}` });
  table
    .closest(".scroll")
    .before(make("div", { className: "filter" }, make("label", {}, "Filter", what, " ", input), count));
}

for (const table of all("main table")) {
  if (table.tBodies[0].rows.length < 2) continue;
  for (const head of table.tHead.rows[0].cells) {
    if (!head.textContent.trim()) continue;
    const button = make("button", { type: "button" }, ...head.childNodes);
    button.addEventListener("click", () => sortBy(table, head));
    head.append(button);
  }
  if (table.tBodies[0].rows.length > 5) addFilter(table);
}

// The raised numbers of a table say what they mean.
for (const note of all("main td sup")) {
  const reasons = note.closest(".block").querySelectorAll(".notes li");
  note.title = reasons[Number(note.textContent) - 1]?.textContent ?? "";
}

// What scrolls sideways can be reached by the keyboard; what does not is no extra stop.
function markScrollers() {
  for (const box of all(".scroll")) {
    const scrolls = box.scrollWidth > box.clientWidth + 1;
    if (scrolls) {
      box.tabIndex = 0;
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", box.dataset.label);
    } else for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
  }
}
markScrollers();
addEventListener("resize", markScrollers);
for (const details of all("details")) details.addEventListener("toggle", markScrollers);

// ---------------------------------------------------------------- the worst case of a pair
const dialog = document.getElementById("case");

function openCase(found) {
  const list = dialog.querySelector("dl");
  const entries = [
    ["Robot", found.robot],
    ["Methods", `${found.method} and ${found.other}`],
    ["Quantity", `${found.quantity}, ${found.measure}`],
    ["Error", `${found.value} (${found.unit})`],
    ["Digits", found.digits],
    ["Noise floor", found.noise],
    ["Tolerance", found.tolerance],
    ["Verdict", found.status],
    ["Because", found.reason],
    ["State", found.state === undefined ? undefined : `number ${found.state} of ${found.states}, seed ${found.seed}`],
    ["Component", found.component],
    [`By ${found.method}`, found.ours],
    [`By ${found.other}`, found.theirs],
    ...Object.entries(found.inputs ?? {}).map(([name, values]) => [name, values.join(", ")]),
  ];
  list.replaceChildren(
    ...entries
      .filter(([, value]) => value !== undefined && value !== null && value !== "")
      .flatMap(([name, value]) => [make("dt", { textContent: name }), make("dd", { textContent: String(value) })]),
  );
  dialog.showModal();
}

for (const button of all("[data-case]"))
  button.addEventListener("click", async () => openCase((await data).cases[Number(button.dataset.case)]));
document.getElementById("case-close").addEventListener("click", () => dialog.close());

const bad = (found) => found.status === "differs" || found.status === "failed";
function worstOf(cases, one, two) {
  const mine = cases.filter(
    (found) => [found.method, found.other].includes(one) && [found.method, found.other].includes(two),
  );
  return mine.sort((a, b) => bad(b) - bad(a) || Number(b.value) - Number(a.value))[0];
}

function makeButton(cell, cases) {
  if (!cell.querySelector("path")) {
    cell.style.pointerEvents = "none";
    return;
  }
  const { method, other } = cell.dataset;
  const found = worstOf(cases, method, other);
  if (!found) return;
  cell.setAttribute("role", "button");
  cell.setAttribute("tabindex", "0");
  cell.setAttribute("aria-label", `${method} and ${other}: ${found.digits} digits, worst case`);
  cell.addEventListener("click", () => openCase(found));
  cell.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      openCase(found);
    }
  });
}

data.then(({ cases }) => {
  for (const cell of all(".pairs g[data-other]")) makeButton(cell, cases);
});

// ---------------------------------------------------------------- figures as files
for (const button of all("[data-download]")) {
  button.addEventListener("click", () => {
    const name = button.dataset.download;
    const copy = document.getElementById(`svg-${name}`).cloneNode(true);
    for (const element of all(".off", copy)) element.remove();
    const light = document.styleSheets[0].cssRules[0].style; // :root
    const colour = (_, variable) => light.getPropertyValue(variable).trim();
    const text = new XMLSerializer().serializeToString(copy).replace(/var\((--[\w-]+)\)/g, colour);
    const link = make("a", {
      download: `${name}.svg`,
      href: URL.createObjectURL(new Blob([text], { type: "image/svg+xml" })),
    });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}

data.then(({ figures }) => {
  for (const link of all(".tools a")) {
    link.href = URL.createObjectURL(new Blob([figures[link.download]], { type: "text/csv" }));
    link.hidden = false;
  }
});

// ---------------------------------------------------------------- robots in motion
const WIDTHS = { link: 6, slide: 2, ground: 1.5 };
const SHORTEST = 4; // seconds on the screen
const players = [];

class Player {
  constructor(figure, motion) {
    this.data = motion;
    this.canvas = figure.querySelector("canvas");
    this.button = figure.querySelector(".play");
    this.range = figure.querySelector("input");
    this.output = figure.querySelector("output");
    this.yaw = -0.6;
    this.pitch = 0.45;
    this.started = null;
    this.range.addEventListener("input", () => {
      this.stop();
      this.draw();
    });
    this.button.addEventListener("click", () => (this.started === null ? this.play() : this.stop()));
    for (const button of all("[data-turn]", figure)) {
      button.addEventListener("click", () => {
        this.yaw += 0.2 * Number(button.dataset.turn);
        this.fit();
        this.draw();
      });
    }
    if (!this.data.planar)
      this.canvas.addEventListener("pointermove", (event) => {
        if (event.buttons !== 1) return;
        this.yaw += event.movementX / 150;
        this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + event.movementY / 150));
        this.fit();
        this.draw();
      });
    this.fit();
    this.draw();
  }

  get frame() {
    return Number(this.range.value);
  }

  project(x, y, z) {
    if (this.data.planar) return [x, -y];
    const side = Math.cos(this.yaw) * x - Math.sin(this.yaw) * y;
    const depth = Math.sin(this.yaw) * x + Math.cos(this.yaw) * y;
    return [side, depth * Math.sin(this.pitch) - z * Math.cos(this.pitch)];
  }

  // One scale for the whole motion, so that nothing jumps.
  fit() {
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const points of this.data.points)
      for (let k = 0; k < points.length; k += 3) {
        const [x, y] = this.project(points[k], points[k + 1], points[k + 2]);
        left = Math.min(left, x);
        right = Math.max(right, x);
        top = Math.min(top, y);
        bottom = Math.max(bottom, y);
      }
    const { width, height } = this.canvas;
    this.scale = Math.min((width - 60) / Math.max(right - left, 1e-6), (height - 60) / Math.max(bottom - top, 1e-6));
    this.shift = [width / 2 - (this.scale * (left + right)) / 2, height / 2 - (this.scale * (top + bottom)) / 2];
  }

  at(index) {
    const points = this.data.points[this.frame];
    const [x, y] = this.project(points[3 * index], points[3 * index + 1], points[3 * index + 2]);
    return [this.shift[0] + this.scale * x, this.shift[1] + this.scale * y];
  }

  draw() {
    const pen = this.canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const [ink, body, paper] = ["--plot-ink", "--c0", "--mark"].map((name) => style.getPropertyValue(name).trim());
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.lineCap = pen.lineJoin = "round";
    for (const kind of ["ground", "slide", "link"]) {
      pen.setLineDash(kind === "ground" ? [6, 6] : []);
      pen.strokeStyle = kind === "link" ? body : ink;
      pen.lineWidth = WIDTHS[kind];
      for (const [one, two] of this.data.lines.filter((line) => line[2] === kind)) {
        pen.beginPath();
        pen.moveTo(...this.at(one));
        pen.lineTo(...this.at(two));
        pen.stroke();
      }
    }
    pen.setLineDash([]);
    pen.strokeStyle = ink;
    pen.lineWidth = 2;
    for (const [index, kind] of this.data.dots) {
      const [x, y] = this.at(index);
      pen.fillStyle = kind === "ground" ? ink : paper;
      pen.beginPath();
      if (kind === "ground") {
        pen.moveTo(x, y);
        pen.lineTo(x - 9, y + 15);
        pen.lineTo(x + 9, y + 15);
        pen.closePath();
        pen.fill();
      } else {
        pen.arc(x, y, 4.5, 0, 2 * Math.PI);
        pen.fill();
        pen.stroke();
      }
    }
    const { t } = this.data;
    const text = `${t[this.frame].toFixed(t[t.length - 1] < 1 ? 4 : 2)} s`;
    this.output.textContent = text;
    this.range.setAttribute("aria-valuetext", text);
  }

  play() {
    const { t } = this.data;
    if (this.frame >= t.length - 1) this.range.value = 0;
    const from = t[this.frame];
    const speed = Math.min(1, (t[t.length - 1] - t[0]) / SHORTEST); // a motion of milliseconds is shown slowly
    this.started = performance.now();
    this.label("Pause");
    const step = (now) => {
      if (this.started === null) return;
      const time = from + (speed * (now - this.started)) / 1000;
      let frame = this.frame;
      while (frame < t.length - 1 && t[frame + 1] <= time) frame += 1;
      this.range.value = frame;
      this.draw();
      if (frame >= t.length - 1) this.stop();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  stop() {
    this.started = null;
    this.label("Play");
  }

  label(text) {
    this.button.firstChild.textContent = text;
    this.button.setAttribute("aria-pressed", String(text === "Pause"));
  }
}

data.then(({ motions }) => {
  for (const figure of all(".motion")) players.push(new Player(figure, motions[figure.id]));
});

// ---------------------------------------------------------------- colours
const redraw = () => players.forEach((player) => player.draw());
document.getElementById("theme").addEventListener("change", (event) => {
  document.documentElement.dataset.theme = event.target.value;
  redraw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

// ---------------------------------------------------------------- on paper: the reasons too, which are closed on a screen
let opened = [];
addEventListener("beforeprint", () => {
  opened = all("details.notes:not([open])");
  for (const details of opened) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of opened) details.open = false;
});
