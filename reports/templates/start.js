// Wiring: controls, drawing, and what happens when the address, the width or the colours change.

function goTo(id) {
  const target = $(id) ?? document.querySelector(`[id="${CSS.escape(id)}"]`);
  const folded = target?.closest("details.fold");
  if (folded) folded.open = true;
  target?.scrollIntoView();
}

function addControls() {
  for (const name of ["robot", "quantity", "method", "family"])
    $(name)?.addEventListener("change", (event) => set({ [name]: event.target.value }));
  for (const name of ["mode", "code"])
    for (const input of all(`#${name} input`)) input.addEventListener("change", () => set({ [name]: input.value }));
  for (const box of all("#methods input"))
    box.addEventListener("change", () => {
      const hidden = new Set(state.hidden);
      if (box.checked) hidden.delete(box.value);
      else hidden.add(box.value);
      set({ hidden });
    });
  const sets = {
    all: () => true,
    none: () => false,
    general: (m) => m.kind !== "special",
    exact: (m) => m.exact || m.kind === "floor",
  };
  for (const button of all("[data-set]"))
    button.addEventListener("click", () =>
      set({ hidden: new Set(D.methods.filter((m) => !sets[button.dataset.set](m)).map((m) => m.name)) }),
    );
  document.addEventListener("click", (event) => {
    for (const menu of all(".bar details")) if (!menu.contains(event.target)) menu.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    hideTip();
    for (const menu of all(".bar details[open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
  // links to sections keep the state: the section goes into the address as "at"
  for (const link of all(".bar a"))
    link.addEventListener("click", (event) => {
      event.preventDefault();
      if ($("sections")) $("sections").open = false;
      state.at = link.hash.slice(1);
      writeState();
      goTo(state.at);
    });
}

function showState() {
  for (const name of ["robot", "quantity", "method"]) if ($(name)) $(name).value = state[name];
  for (const name of ["mode", "code"])
    for (const input of all(`#${name} input`)) input.checked = input.value === state[name];
  const boxes = all("#methods input");
  for (const box of boxes) box.checked = shown(box.value);
  if ($("shown"))
    $("shown").textContent = state.hidden.size ? `${boxes.length - state.hidden.size} of ${boxes.length}` : "";
}

function drawAgain() {
  if (!$("again")) return;
  const command = () => {
    const methods = state.method ? ` -m ${shell(state.method)}` : "";
    return `dynbench bench -r ${shell(D.sources[state.robot] ?? state.robot)}${methods} --quantity ${state.quantity}`;
  };
  put(
    "again",
    make(
      "div",
      { class: "buttons" },
      state.robot ? copyButton("Copy the command for what is selected", command, "again-command") : null,
      copyButton("Copy a link to this view", () => location.href, "again-link"),
    ),
  );
}

// what is not about the method that is looked at is folded; its heading, or a link to it, opens it
let looked = "";
function foldSections() {
  if (Boolean(state.method) !== Boolean(looked))
    for (const section of all("details.fold")) section.open = !state.method;
  looked = state.method;
}

// draws everything; what had the focus has it again
function update() {
  const now = document.activeElement;
  const keyOfElement = (element) =>
    element.dataset?.key ??
    (element.matches?.("td.cell")
      ? `${element.closest("[id]").id} ${element.dataset.robot ?? ""} ${element.dataset.method} ${element.dataset.other ?? ""}`
      : null);
  const kept = now && now !== document.body ? keyOfElement(now) : null;
  showState();
  foldSections();
  if (Object.keys(D.views).length) {
    drawAnswer();
    drawMatrix();
    drawFastest();
    drawBatches();
    drawArithmetic();
    drawRivals();
  }
  drawAgreement();
  drawGrowth();
  drawPapers();
  drawSimulations();
  drawAgain();
  hideMethods();
  chooseLines();
  markScrollers();
  if (kept)
    all("[data-key], td.cell")
      .find((element) => keyOfElement(element) === kept)
      ?.focus({ preventScroll: true });
}

const measureBar = () => {
  const bar = document.querySelector(".bar");
  document.documentElement.style.setProperty("--bar", `${bar.getBoundingClientRect().height}px`);
};

function addTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const redraw = () => players.forEach((player) => player.draw());
  $("theme").addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("dynbench-theme", theme);
    } catch {
      // a page opened from a file may have no storage
    }
    redraw();
  });
  dark.addEventListener("change", redraw);
}

function start(found) {
  D = found;
  for (const method of D.methods) about[method.name] = method;
  addFigures();
  prepareTables();
  addDownloads();
  addControls();
  addTheme();
  measureBar();
  readState();
  update();
  for (const figure of all(".motion")) players.push(new Player(figure, D.motions[figure.id.slice("motion-".length)]));
  if (state.at) goTo(state.at);
  addEventListener("hashchange", () => {
    readState();
    update();
    if (state.at) goTo(state.at);
  });
  let width = innerWidth;
  let wait = null;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(wait);
    wait = setTimeout(() => {
      measureBar();
      update();
    }, 80);
  });
  for (const details of all("details")) details.addEventListener("toggle", markScrollers);
  // on paper, the numbers too
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:is(.num, .fold):not([open])");
    for (const details of opened) details.open = true;
    update();
  });
  addEventListener("afterprint", () => opened.forEach((details) => (details.open = false)));
  return true;
}

// a browser that cannot unpack the data shows the page as without a script
const ready = data.then(start, () => document.documentElement.classList.remove("js"));
