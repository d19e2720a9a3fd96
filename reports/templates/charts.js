// Charts: one logarithmic axis or two, marks with intervals, labels beside the lines. Every mark has a tooltip, and its
// text is its name for screen readers.

// ---------------------------------------------------------------- axes
function logScale(low, high, from, to) {
  const [a, b] = [Math.log10(low), Math.log10(high)];
  return (value) => from + ((Math.log10(value) - a) / (b - a || 1)) * (to - from);
}
function logTicks(low, high) {
  const found = [];
  const many = Math.log10(high / low) > 4;
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++)
    for (const k of many ? [1] : [1, 2, 5]) {
      const value = k * 10 ** e;
      if (value >= low * 0.999 && value <= high * 1.001) found.push([value, k === 1]);
    }
  return found;
}
// labels that do not overlap: pushed apart, in the order they are
function spread(items, gap, low, high) {
  items.sort((a, b) => a.y - b.y);
  for (let turn = 0; turn < 80; turn++) {
    let moved = false;
    for (let k = 1; k < items.length; k++) {
      const missing = gap - (items[k].y - items[k - 1].y);
      if (missing > 0.2) {
        items[k].y += missing / 2;
        items[k - 1].y -= missing / 2;
        moved = true;
      }
    }
    for (const item of items) item.y = Math.max(low, Math.min(high, item.y));
    if (!moved) break;
  }
  return items;
}
const faded = (name) => (state.method && state.method !== name ? "dim" : "");
const sheet = (width, height, label) =>
  draw("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "group", "aria-label": label });
const text = (x, y, words, attributes = {}) => draw("text", { x: x.toFixed(1), y: y.toFixed(1), ...attributes }, words);
const line = (x1, y1, x2, y2, attributes) =>
  draw("line", { x1: x1.toFixed(1), y1: y1.toFixed(1), x2: x2.toFixed(1), y2: y2.toFixed(1), ...attributes });

function columns(svg, scale, low, high, top, bottom, words) {
  let last = -99;
  for (const [value, major] of logTicks(low, high)) {
    svg.append(line(scale(value), top, scale(value), bottom, { class: major ? "rule" : "rule minor" }));
    if (scale(value) - last < 46) continue;
    svg.append(text(scale(value), bottom + 16, words(value), { "text-anchor": "middle", class: "axis" }));
    last = scale(value);
  }
}
function rows(svg, scale, low, high, left, right, words) {
  let last = Infinity;
  for (const [value, major] of logTicks(low, high)) {
    svg.append(line(left, scale(value), right, scale(value), { class: major ? "rule" : "rule minor" }));
    if (last - scale(value) < 20) continue;
    svg.append(text(left - 6, scale(value) + 4, words(value), { "text-anchor": "end", class: "axis" }));
    last = scale(value);
  }
}
// what belongs to a method in a chart: hovering, focus and choosing
function point(name, words, attributes, ...children) {
  const spoken = words.replaceAll("\n", ", ");
  const named = attributes.role === "button" ? { "aria-description": spoken } : { role: "img", "aria-label": spoken };
  return draw(
    "g",
    { class: faded(name), tabindex: 0, ...named, "data-tip": words, "data-method": name, ...attributes },
    children,
  );
}

// ---------------------------------------------------------------- which is fastest
function drawFastest() {
  if (!$("fastest-chart")) return;
  const view = viewOf(state.robot);
  const timed = view.entries.filter((entry) => entry.time && shown(entry.method));
  const kinds = { method: 0, own: 0, wrapper: 1 };
  const main = timed
    .filter((entry) => entry.kind in kinds)
    .sort((a, b) => kinds[a.kind] - kinds[b.kind] || a.time[0] - b.time[0]);
  const floor = timed.find((entry) => entry.kind === "floor");
  const tied = view.fastest.length > 1;
  put(
    "fastest-say",
    make(
      "b",
      {},
      !view.fastest.length
        ? "No winner here. "
        : tied
          ? `${view.fastest.length} methods are tied, in the shaded band. `
          : `${view.fastest[0]}, ${view.only ? "the only formulation timed here" : "alone in front"}. `,
    ),
    "Mark: time on a quiet core; bar: 95 % interval; thin stroke: the same code again; ",
    main.some((entry) => entry.kind === "wrapper") ? "hollow: our wrapper around an engine, not ranked. " : "",
    "Choose a row to run it again.",
  );
  drawTimeCase(view);
  if (!main.length) {
    put("fastest-chart");
    put("fastest-here", missing(view));
    return;
  }
  const width = $("fastest-chart").clientWidth;
  const small = width < 620;
  const longest = Math.max(...main.map((entry) => entry.method.length + (entry.kind === "wrapper" ? 9 : 0)));
  const left = small ? Math.min(0.46 * width, 16 + 6.2 * longest) : 238;
  const right = small ? 66 : 190;
  const pitch = 22;
  const [top, bottom] = [18, 18 + pitch * main.length + 4];
  const values = [...main, ...(floor ? [floor] : [])].flatMap((entry) => entry.time.filter(Boolean));
  const [low, high] = [Math.min(...values) / 1.25, Math.max(...values) * 1.2];
  const x = logScale(low, high, left, width - right);
  const svg = sheet(width, bottom + 24, `Times of the ${D.quantities[state.quantity]} of ${state.robot}`);
  columns(svg, x, low, high, top, bottom, (value) => time(value));
  if (tied) {
    const last = Math.max(...view.fastest.map((name) => entryOf(view, name)?.time[0] ?? view.best));
    svg.prepend(
      draw("rect", {
        x: x(view.best) - 6,
        y: top,
        width: x(last) - x(view.best) + 12,
        height: bottom - top,
        fill: "var(--tie)",
        opacity: 0.7,
      }),
    );
  }
  if (floor) {
    svg.append(
      line(x(floor.time[0]), top, x(floor.time[0]), bottom, { stroke: "var(--soft)", "stroke-dasharray": "2 3" }),
      text(x(floor.time[0]), top - 5, `${floor.method}: the call itself`, {
        class: "axis",
        "text-anchor": x(floor.time[0]) < left + 60 ? "start" : "middle",
      }),
    );
  }
  main.forEach((entry, k) => svg.append(timeRow(entry, k, view)));
  put("fastest-chart", svg);
  put("fastest-here", missing(view));

  function timeRow(entry, k) {
    const name = entry.method;
    const y = top + pitch * (k + 0.5) + 2;
    const hollow = entry.kind === "wrapper";
    const among = !hollow && view.fastest.includes(name);
    const again = timed.find((other) => other.kind === "again" && other.method === name && other.mode === entry.mode);
    const verdict =
      entry.outcome === "disturbed"
        ? "disturbed"
        : among
          ? tied
            ? "tied"
            : "fastest"
          : !about[name].exact
            ? "approximate"
            : `${times(entry.ratio[0])}×${small ? "" : range(entry.ratio[1], entry.ratio[2])}`;
    const words = [
      name + (entry.called ? ` (${entry.called})` : ""),
      `${time(entry.time[0])} a state${timeRange(entry)}`,
      entry.outcome
        ? `disturbed, not judged: ${entry.reason}`
        : `${times(entry.ratio[0])} times the fastest${range(entry.ratio[1], entry.ratio[2])}, ${entry.verdict || "not ranked"}`,
      again ? `the same code again: ${time(again.time[0])}` : "",
      entry.turns ? `quiet turns: ${entry.turns}` : "",
      entry.noise ? `two timings of the same code differ by ${percent(entry.noise)}` : "",
      entry.cut ? `timed with ${entry.cut} states, the whole batch would take too long` : "",
      "Choose it to run it again",
    ]
      .filter(Boolean)
      .join("\n");
    const id = `${name} ${entry.kind}`;
    const called =
      entry.called && !small
        ? `, ${entry.called.replace(" in a loop in Python", ", Python loop").replace("its ", "")}`
        : hollow
          ? ", wrapper"
          : "";
    const label = text(left - 12, y + 4, [name, draw("tspan", { class: "axis" }, called)], {
      "text-anchor": "end",
      class: among ? "strong" : "",
    });
    const choose = () => set({ timed: state.timed === id ? "" : id });
    return point(
      name,
      words,
      {
        role: "button",
        "data-key": `time-${id}`,
        "aria-pressed": String(state.timed === id),
        on: {
          click: choose,
          keydown: (event) => {
            if (["Enter", " "].includes(event.key)) {
              event.preventDefault();
              choose();
            }
          },
        },
      },
      draw("rect", { class: "halo", x: 0, y: y - pitch / 2, width, height: pitch, rx: 4 }),
      draw("rect", { class: "hit", x: 0, y: y - pitch / 2, width, height: pitch }),
      label,
      entry.time[1]
        ? line(x(entry.time[1]), y, x(entry.time[2]), y, {
            stroke: colour(name),
            "stroke-width": 5,
            opacity: 0.35,
            "stroke-linecap": "round",
          })
        : null,
      again
        ? line(x(again.time[0]), y - 7, x(again.time[0]), y + 7, { stroke: colour(name), "stroke-width": 1.2 })
        : null,
      mark(name, x(entry.time[0]), y, hollow),
      text(width - right + (small ? 62 : 74), y + 4, time(entry.time[0]), {
        "text-anchor": "end",
        class: among ? "strong" : "",
      }),
      small ? null : text(width - right + 84, y + 4, verdict, { class: "axis" }),
    );
  }
}

let missingShown = false;
function missing(view) {
  const names = D.methods.filter((m) => shown(m.name) && m.kind !== "floor" && !entryOf(view, m.name)?.time);
  if (!names.length) return null;
  const reasons = new Map(); // with the methods that they hold for
  for (const { name } of names) {
    const why = entryOf(view, name)?.reason ?? "not measured in this run";
    reasons.set(why, [...(reasons.get(why) ?? []), name]);
  }
  return make(
    "details",
    { open: missingShown, on: { toggle: (event) => (missingShown = event.target.open) } },
    make("summary", { "data-key": "missing" }, `No time of ${names.length} other method${names.length > 1 ? "s" : ""} here`),
    make(
      "ul",
      { class: "limits" },
      [...reasons].map(([why, mine]) => make("li", {}, make("b", {}, mine.join(", ")), `: ${why}`)),
    ),
  );
}

// the row that was chosen: its numbers, and how to run it again
function drawTimeCase(view) {
  const [name, kind] = state.timed.split(" ");
  const entry = view.entries.find((one) => one.method === name && one.kind === kind);
  $("time-case").hidden = !entry?.time;
  if (!entry?.time) return;
  const { command, python } = timeAgain(entry, state.mode);
  put(
    "time-case",
    make("h3", {}, icon(name), ` ${name}: ${time(entry.time[0])} a state${timeRange(entry)}`),
    make("pre", { tabindex: 0, "aria-label": "Command and Python" }, make("code", {}, `${command}\n\n${python}`)),
    make(
      "div",
      { class: "buttons" },
      copyButton("Copy as command", () => command, "time-command"),
      copyButton("Copy as Python", () => python, "time-python"),
      make("button", { type: "button", on: { click: () => set({ timed: "" }) } }, "Close"),
    ),
  );
}

// ---------------------------------------------------------------- curves over a size: batches and growth
function drawCurves(id, lines, label, guides, title) {
  const width = $(id).clientWidth;
  if (!lines.length || !width) return put(id);
  const small = width < 520;
  const height = 320;
  const longest = Math.max(...lines.map((one) => one.method.length));
  const [left, right, top, bottom] = [
    58,
    Math.min(0.42 * width, 24 + (small ? 6.2 : 7.1) * longest + (small ? 0 : 34)),
    10,
    height - 38,
  ];
  const sizes = [...new Set(lines.flatMap((one) => one.points.map((p) => p[0])))].sort((a, b) => a - b);
  const values = lines.flatMap((one) => one.points.flatMap((p) => p.slice(1).filter(Boolean)));
  const [low, high] = [Math.min(...values) / 1.3, Math.max(...values) * 1.3];
  const x = logScale(sizes[0], sizes.at(-1), left + 8, width - right - 8);
  const y = logScale(low, high, bottom, top);
  const svg = sheet(width, height, title);
  rows(svg, y, low, high, left, width - right, (value) => time(value));
  for (const size of sizes)
    svg.append(text(x(size), bottom + 16, String(size), { "text-anchor": "middle", class: "axis" }));
  svg.append(text((left + width - right) / 2, height - 4, label, { "text-anchor": "middle", class: "axis" }));
  const base = low * 1.6;
  for (const power of guides) {
    const end = Math.min(sizes.at(-1), sizes[0] * (high / 1.15 / base) ** (1 / power));
    const to = y(base * (end / sizes[0]) ** power);
    svg.append(
      line(x(sizes[0]), y(base), x(end), to, { stroke: "var(--soft)", "stroke-dasharray": "2 4", opacity: 0.8 }),
      text(x(end) - 6, to + (power === 1 ? 15 : -4), power === 1 ? "as N" : `as N${"²³"[power - 2]}`, {
        class: "axis",
        "text-anchor": "end",
      }),
    );
  }
  const ends = [];
  for (const one of lines) {
    const group = draw("g", { class: faded(one.method) });
    group.append(
      draw("polyline", {
        points: one.points.map((p) => `${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`).join(" "),
        fill: "none",
        stroke: colour(one.method),
        "stroke-width": one.method === state.method ? 3 : 1.8,
        "stroke-dasharray": about[one.method]?.dash || null,
      }),
    );
    for (const p of one.points) {
      const words = `${one.method}, ${label.includes("N") ? "N" : "states"} = ${p[0]}\n${time(p[1])} a state${p[2] ? ` [${time(p[2])} to ${time(p[3])}]` : ""}${one.note ? `\n${one.note}` : ""}`;
      group.append(
        draw(
          "g",
          { "data-tip": words, "data-method": one.method },
          draw("circle", { class: "hit", cx: x(p[0]).toFixed(1), cy: y(p[1]).toFixed(1), r: 10 }),
          mark(one.method, x(p[0]), y(p[1])),
        ),
      );
    }
    svg.append(group);
    const last = one.points.at(-1);
    ends.push({ one, y: y(last[1]), from: y(last[1]), x: x(last[0]) });
  }
  for (const { one, y: at, from, x: start } of spread(ends, 14.5, top + 4, bottom)) {
    const words = [one.method, one.note].filter(Boolean).join("\n");
    svg.append(
      point(
        one.method,
        words,
        {},
        line(start + 7, from, width - right + 12, at, { stroke: colour(one.method), opacity: 0.5 }),
        text(
          width - right + 15,
          at + 4,
          [
            one.method,
            one.exponent && !small
              ? draw(
                  "tspan",
                  { class: "axis" },
                  ` N${""}`,
                  draw("tspan", { dy: -4, "font-size": 9.5 }, one.exponent[0].toFixed(2)),
                )
              : "",
          ],
          { style: `fill: ${colour(one.method)}` },
        ),
      ),
    );
  }
  put(id, svg);
}

function drawBatches() {
  if (!$("batches-chart")) return;
  const found = D.batches[key(state.robot, state.quantity, state.code)];
  const lines =
    found && state.mode === "batch"
      ? Object.entries(found)
          .filter(([name]) => shown(name))
          .map(([method, points]) => ({ method, points }))
      : [];
  drawCurves("batches-chart", lines, "states in a batch", [], `Time per state over batch size, ${state.robot}`);
}

function drawGrowth() {
  if (!$("grow-chart")) return;
  const keys = Object.keys(D.scaling).map((name) => name.split("\n"));
  // of a tier that was not timed by size there are engines alone: then the other tier is shown
  const ours = (tier) =>
    keys.some((k) => k[2] === tier && Object.keys(D.scaling[k.join("\n")].lines).some((m) => about[m]?.kind !== "engine"));
  const code = ours(state.code) ? state.code : (D.codes.find(ours) ?? state.code);
  const families = [...new Set(keys.filter((k) => k[2] === code).map((k) => k[0]))];
  const natural = families.find((name) => state.robot.startsWith(`${name}-`));
  const family = families.includes(state.family) ? state.family : (natural ?? families[0]);
  $("family").replaceChildren(
    ...families.map((name) => make("option", { value: name, selected: name === family }, name)),
  );
  const has = (quantity) => D.scaling[key(family, quantity, code)];
  const quantity = has(state.quantity) ? state.quantity : keys.find((k) => k[0] === family && k[2] === code)?.[1];
  const found = has(quantity);
  const other =
    quantity !== state.quantity
      ? `${D.quantities[state.quantity]} was not timed by size; ${D.quantities[quantity] ?? quantity} is shown. `
      : "";
  put(
    "grow-say",
    other,
    make("b", {}, found?.said ?? "Nothing was timed by size."),
    ` Time of one state in batches${code === state.code ? "" : `, ${code} code`}; engines through our wrapper.`,
  );
  const lines = Object.entries(found?.lines ?? {})
    .filter(([name, one]) => shown(name) && one.points.length)
    .map(([method, { points, exponent }]) => ({
      method,
      points,
      exponent,
      note: exponent
        ? `grows as N to the ${exponent[0].toFixed(2)} [${exponent[1].toFixed(2)} to ${exponent[2].toFixed(2)}]`
        : "",
    }));
  drawCurves("grow-chart", lines, `bodies N of ${family}-N`, [1, 2], `Time over size, family ${family}`);
}

// ---------------------------------------------------------------- how much arithmetic
function drawArithmetic() {
  if (!$("arithmetic-chart")) return;
  const view = viewOf(state.robot);
  const counted = countsOf();
  const marks = view.entries
    .filter((entry) => entry.kind === "method" && entry.time && shown(entry.method) && counted?.of[entry.method])
    .map((entry) => ({ entry, ops: counted.of[entry.method] }));
  put(
    "arithmetic-say",
    make("b", {}, counted?.said ?? "No operations were counted for this choice."),
    marks.length ? " Along a dotted line time follows from arithmetic alone; above it, something else costs." : "",
  );
  const width = $("arithmetic-chart").clientWidth;
  if (!marks.length || !width) return put("arithmetic-chart");
  const height = 320;
  const [left, right, top, bottom] = [58, 16, 10, height - 38];
  const X = marks.map((m) => m.ops[5]);
  const Y = marks.map((m) => m.entry.time[0]);
  const [x0, x1, y0, y1] = [Math.min(...X) / 1.3, Math.max(...X) * 2, Math.min(...Y) / 1.6, Math.max(...Y) * 1.3];
  const x = logScale(x0, x1, left, width - right);
  const y = logScale(y0, y1, bottom, top);
  const svg = sheet(width, height, `Time over operations, ${state.robot}`);
  rows(svg, y, y0, y1, left, width - right, (value) => time(value));
  columns(svg, x, x0, x1, top, bottom, (value) => value.toLocaleString("en"));
  svg.append(
    text((left + width - right) / 2, height - 4, "operations of one state, counted in the source", {
      "text-anchor": "middle",
      class: "axis",
    }),
  );
  const peak = D.peak / 1e9;
  for (const rate of [0.5, 1, 2, 5, 10, 20, 50, peak].filter((one) => one > 0 && (one < 0.6 * peak || one === peak))) {
    const [from, to] = [Math.max(x0, y0 * rate * 1e9), Math.min(x1, y1 * rate * 1e9)];
    if (from >= to) continue;
    svg.append(
      line(x(from), y(from / rate / 1e9), x(to), y(to / rate / 1e9), {
        stroke: "var(--soft)",
        "stroke-dasharray": rate === peak ? null : "2 4",
        opacity: 0.65,
      }),
      text(
        x(to) - 4,
        y(to / rate / 1e9) + (to === x1 ? -5 : 12),
        rate === peak ? `peak, ${Math.round(peak)} Gflop/s` : `${rate} Gflop/s`,
        { "text-anchor": "end", class: "axis" },
      ),
    );
  }
  for (const { m, y: at } of spread(
    marks.map((m) => ({ m, y: y(m.entry.time[0]) })),
    14,
    top + 6,
    bottom - 4,
  )) {
    const { entry, ops } = m;
    const name = entry.method;
    const [px, py] = [x(ops[5]), y(entry.time[0])];
    const flip = px + 16 + 7.2 * name.length > width - right;
    const words = `${name}\n${ops[5].toLocaleString("en")} operations: ${ops[1]} multiplications, ${ops[0]} additions, ${ops[2]} divisions, ${ops[3]} square roots, ${ops[4]} sine-cosine pairs\n${time(entry.time[0])} a state: ${(ops[5] / entry.time[0] / 1e9).toFixed(1)} Gflop/s`;
    svg.append(
      point(
        name,
        words,
        {},
        draw("circle", { class: "hit", cx: px, cy: py, r: 11 }),
        Math.abs(at - py) > 6 ? line(px, py, px + (flip ? -10 : 10), at, { stroke: colour(name), opacity: 0.5 }) : null,
        mark(name, px, py),
        text(px + (flip ? -12 : 12), at + 4, name, {
          "text-anchor": flip ? "end" : "start",
          style: `fill: ${colour(name)}`,
        }),
      ),
    );
  }
  put("arithmetic-chart", svg);
}

// ---------------------------------------------------------------- other engines
function drawRivals() {
  if (!$("rivals-chart")) return;
  const found = D.ratios[key(state.robot, state.quantity, state.mode, state.code)];
  put("rivals-say", found?.said || "No ratio to another engine for this choice.");
  const marks = (found?.rows ?? []).filter((row) => shown(row.method) && shown(row.peer));
  const width = $("rivals-chart").clientWidth;
  if (!marks.length || !width) return put("rivals-chart");
  const names = [...new Set(marks.map((row) => row.method))];
  const best = (name) => Math.max(...marks.filter((row) => row.method === name).map((row) => row.ratio[0]));
  names.sort((a, b) => best(b) - best(a));
  const small = width < 620;
  const longest = Math.max(...names.map((name) => name.length));
  const [left, right, pitch, top] = [
    Math.min(0.46 * width, 20 + (small ? 6.4 : 7.8) * longest),
    small ? 14 : 24,
    22,
    22,
  ];
  const bottom = top + pitch * names.length + 4;
  const values = [1, ...marks.flatMap((row) => row.ratio.filter(Boolean))];
  const [low, high] = [Math.min(...values) / 1.25, Math.max(...values) * 1.25];
  const x = logScale(low, high, left, width - right);
  const svg = sheet(width, bottom + 24, `Times faster than other engines, ${state.robot}`);
  columns(svg, x, low, high, top, bottom, (value) => `${value < 1 ? Number(value.toPrecision(2)) : value}×`);
  svg.append(line(x(1), top, x(1), bottom, { stroke: "var(--ink)", "stroke-dasharray": "2 3", "stroke-width": 1.4 }));
  const peers = [...new Set(marks.map((row) => row.peer))];
  let at = left;
  for (const peer of peers) {
    svg.append(mark(peer, at + 6, 8), text(at + 16, 12, peer, { class: "axis" }));
    at += 34 + 7 * peer.length;
  }
  names.forEach((name, k) => {
    const y = top + pitch * (k + 0.5) + 2;
    svg.append(text(left - 10, y + 4, name, { "text-anchor": "end", class: faded(name) }));
    for (const row of marks.filter((one) => one.method === name)) {
      const words = [
        `${name} beside ${row.peer} (${row.called})`,
        `${times(row.ratio[0])} times as fast${range(row.ratio[1], row.ratio[2])}`,
        row.reason ? `${row.reason}: not judged` : row.verdict,
      ]
        .filter(Boolean)
        .join("\n");
      svg.append(
        draw(
          "g",
          {
            class: faded(name),
            tabindex: 0,
            role: "img",
            "data-tip": words,
            "aria-label": words.replaceAll("\n", ", "),
            "data-method": name,
            "data-other": row.peer,
          },
          row.ratio[1]
            ? line(x(row.ratio[1]), y, x(row.ratio[2]), y, {
                stroke: colour(row.peer),
                "stroke-width": 5,
                opacity: 0.35,
                "stroke-linecap": "round",
              })
            : null,
          draw("circle", { class: "hit", cx: x(row.ratio[0]), cy: y, r: 9 }),
          mark(row.peer, x(row.ratio[0]), y, !row.own || Boolean(row.reason)),
        ),
      );
    }
  });
  put("rivals-chart", svg);
}

// ---------------------------------------------------------------- do they agree
const LEVELS = [15, 13, 10, 7]; // digits from which a cell has the step g0, g1, g2, g3
function drawAgreement() {
  if (!$("agree-grid")) return;
  const isChosen = (name, code) => name === state.method && (!code || code === state.code);
  const withChosen = (p) => isChosen(p.method, p.code) || isChosen(p.other, p.other_code);
  let pairs = (D.pairs[key(state.robot, state.quantity, state.code)] ?? []).filter(
    (p) => shown(p.method) && shown(p.other),
  );
  // of a method that is looked at, its pairs alone
  if (pairs.some(withChosen)) pairs = pairs.filter(withChosen);
  const quantity = D.quantities[state.quantity] ?? "";
  put(
    "agree-say",
    `${quantity} of ${state.robot}: ${pairs.length} pairs, the worst of ${pairs[0]?.states ?? 0} states each. Choose a cell for its worst case.`,
  );
  $("worst").hidden = !pairs.length;
  if (!pairs.length)
    return put(
      "agree-grid",
      make("p", {}, `No two methods were compared on the ${quantity || "results"} of ${state.robot}.`),
    );
  const worst = [...pairs].sort((a, b) => b.bad - a.bad || (b.value ?? Infinity) - (a.value ?? Infinity));
  const mine = state.method ? worst.filter(withChosen) : [];
  const involved =
    mine.find((p) => [p.method, p.other].every((name) => name === state.method || about[name].exact)) ?? mine[0];
  const chosen =
    pairs.find((p) => `${p.method} ${p.other}` === state.pair) ??
    involved ??
    worst.find((p) => p.status === "agrees" || p.bad) ??
    worst[0];
  const names = D.methods.map((m) => m.name);
  const used = (name) => pairs.some((p) => p.method === name || p.other === name);
  const of = new Map();
  const sides = [];
  // traced code is compared with generic code: the methods of the tier by what they are compared with
  const mixed = pairs.every((p) => p.code !== p.other_code && [p.code, p.other_code].includes(state.code));
  if (mixed && D.codes.length > 1) {
    const partner = (p) => (p.method === p.other ? "its generic code" : p.code === state.code ? p.other : p.method);
    for (const p of pairs) of.set(key(p.code === state.code ? p.method : p.other, partner(p)), p);
    sides.push(names.filter((name) => [...of.keys()].some((k) => k.startsWith(`${name}\n`))));
    sides.push([...new Set(pairs.map(partner))]);
  } else {
    for (const p of pairs)
      for (const [one, two] of [
        [p.method, p.other],
        [p.other, p.method],
      ])
        of.set(key(one, two), p);
    const all_ = names.filter(used);
    const alone = pairs.every(withChosen);
    sides.push(...(alone ? [[state.method], all_.filter((name) => of.has(key(state.method, name)))] : [all_.slice(1), all_.slice(0, -1)]));
  }
  const cell = (one, two) => {
    const pair = of.get(key(one, two));
    if (!pair)
      return make("td", {
        class: "cell none",
        "data-tip": `${one} and ${two}: not compared`,
        "aria-label": `${one} and ${two}: not compared`,
      });
    const shared = pair.value === null ? null : digits(pair.value);
    const level = pair.bad || shared === null ? 4 : LEVELS.findIndex((limit) => shared >= limit);
    const approximate = !about[pair.method].exact || !about[pair.other].exact;
    const words = `${one} and ${two}\n${pair.value === null ? pair.reason : `${shared} digits: error ${scientific(pair.value)}`}${pair.measure.includes("wrenches") ? ", with wrenches" : ""}\n${pair.status}${pair.tolerance ? ` (tolerance ${scientific(pair.tolerance)})` : ""}${pair.noise ? `\nnoise floor ${scientific(pair.noise)}` : ""}`;
    return make(
      "td",
      {
        class: `cell g${level < 0 ? 3 : level} ${approximate ? "approximate" : ""} ${pair === chosen ? "chosen" : ""}`,
        "data-tip": words,
        "aria-label": words.replaceAll("\n", ", "),
        "data-method": one,
        "data-other": two,
        on: { click: () => set({ pair: `${pair.method} ${pair.other}` }) },
      },
      `${pair.bad ? "✗" : ""}${shared ?? "–"}`,
    );
  };
  const [down, across] = sides;
  const width = $("agree-grid").clientWidth;
  const up = (width - 170) / across.length < HEADS;
  const sign = (name) => (name in about ? [icon(name), " "] : null);
  put(
    "agree-grid",
    make(
      "div",
      { class: "scroll" },
      make(
        "table",
        { class: "heat" },
        make("caption", {}, make("b", {}, "Digits that agree")),
        make(
          "colgroup",
          {},
          make("col", { style: `width: ${width < 500 ? 112 : 168}px` }),
          across.map(() => make("col")),
        ),
        make(
          "tbody",
          {},
          down.map((one, k) =>
            make(
              "tr",
              {},
              make("th", { scope: "row", class: one === state.method ? "on" : "" }, sign(one), breakable(one)),
              across.map((two, j) => (mixed || down.length === 1 || j <= k ? cell(one, two) : make("td"))),
            ),
          ),
        ),
        make(
          "tfoot",
          {},
          make(
            "tr",
            {},
            make("td"),
            across.map((name) =>
              make(
                "th",
                {
                  scope: "col",
                  class: `${up ? "up " : ""}${name === state.method ? "on" : ""}`,
                  style: "vertical-align: top",
                },
                make("span", { class: "name" }, name in about ? icon(name) : null, make("span", {}, breakable(name))),
              ),
            ),
          ),
        ),
      ),
    ),
    make(
      "ul",
      { class: "legend", "aria-label": "Legend" },
      make(
        "li",
        {},
        make("span", { class: "sw" }, [
          ...LEVELS.map((limit, k) => make("span", { class: `g${k}` }, `${k === 3 ? "< 10" : `${limit}+`}`)),
          make("span", { class: "g4" }, "✗"),
        ]),
        " digits; ✗ beyond the tolerance",
      ),
      make("li", {}, make("span", { class: "box approximate" }), " approximate by design"),
    ),
  );
  rove($("agree-grid"), "td.cell");
  drawWorst(chosen);
}

let codeShown = false;
function drawWorst(pair) {
  const { command, python } = checkAgain(pair);
  const tier = (code) => (D.codes.length > 1 && code ? ` (${code})` : "");
  const exact = (value) => (value === undefined || value === null ? "not stored" : String(value));
  const entries = [
    [
      "error",
      pair.value === null
        ? pair.reason
        : `${scientific(pair.value)} relative, ${digits(pair.value)} digits${pair.measure.includes("wrenches") ? ", with external wrenches" : ""}`,
    ],
    ["noise floor", scientific(pair.noise)],
    ["tolerance", pair.tolerance === null ? "none: one of them is approximate" : scientific(pair.tolerance)],
    ["verdict", pair.status],
    [
      "where",
      pair.state === undefined
        ? "not stored"
        : `state ${pair.state} of ${pair.states}, seed ${pair.seed}, component ${pair.component}`,
    ],
    [pair.method + tier(pair.code), exact(pair.ours)],
    [pair.other + tier(pair.other_code), exact(pair.theirs)],
  ];
  put(
    "worst",
    make(
      "h3",
      {},
      icon(pair.method),
      ` ${pair.method}${tier(pair.code)} and `,
      icon(pair.other),
      ` ${pair.other}${tier(pair.other_code)}: worst case`,
    ),
    make(
      "dl",
      {},
      entries.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]),
    ),
    make(
      "details",
      { class: "code", open: codeShown, on: { toggle: (event) => (codeShown = event.target.open) } },
      make("summary", { "data-key": "worst-code" }, "Show the Python"),
      make("pre", { tabindex: 0, "aria-label": "Python" }, make("code", {}, python)),
    ),
    make(
      "div",
      { class: "buttons" },
      copyButton("Copy as Python", () => python, "worst-python"),
      copyButton("Copy as command", () => command, "worst-command"),
    ),
  );
}

// ---------------------------------------------------------------- papers: one square a claim
const SIGNS = { reproduced: "✓", differs: "≠", depends: "~", "not reproducible": "?", "not run": "–" };
const offVerdicts = new Set();
const claimId = (claim) => `${claim.paper}: ${claim.statement}`;
function drawPapers() {
  if (!$("papers-strips")) return;
  const papers = [...new Set([...D.claims, ...D.errata].map((row) => row.paper))];
  const verdicts = [...new Set(D.claims.map((claim) => claim.verdict))];
  const count = (verdict) => D.claims.filter((claim) => claim.verdict === verdict).length;
  put(
    "papers-chips",
    verdicts.map((verdict) =>
      make(
        "button",
        {
          type: "button",
          "data-key": `verdict-${verdict}`,
          "aria-pressed": String(!offVerdicts.has(verdict)),
          on: {
            click: () => {
              if (!offVerdicts.delete(verdict)) offVerdicts.add(verdict);
              update();
            },
          },
        },
        `${SIGNS[verdict] ?? "·"} ${verdict} ${count(verdict)}`,
      ),
    ),
  );
  put(
    "papers-strips",
    papers.map((paper) => {
      const mine = D.claims.filter((claim) => claim.paper === paper && !offVerdicts.has(claim.verdict));
      const errata = D.errata.filter((row) => row.paper === paper).length;
      const simulation = document.querySelector(`.simulation[data-paper="${CSS.escape(paper)}"]`);
      const more = make(
        "span",
        { class: "e" },
        `${errata} errat${errata === 1 ? "um" : "a"}`,
        simulation
          ? [
              " · ",
              make(
                "a",
                {
                  href: `#${simulation.id}`,
                  "aria-label": `${paper} in motion`,
                  on: {
                    click: (event) => {
                      event.preventDefault();
                      set({ show: simulation.id, at: "simulations" });
                      goTo("simulations");
                    },
                  },
                },
                "in motion",
              ),
            ]
          : null,
      );
      return make(
        "div",
        { class: "paper" },
        make("span", { class: "n" }, paper, more),
        make(
          "div",
          { class: "strip", role: "group", "aria-label": paper },
          mine.map((claim) =>
            make(
              "button",
              {
                type: "button",
                class: `claim ${claim.verdict.split(" ")[0]} ${claim.kind === "check" ? "check" : ""}`,
                "data-key": `claim-${claimId(claim)}`,
                "aria-pressed": String(claimId(claim) === state.claim),
                "aria-label": `${claim.verdict}: ${claim.statement}`,
                "data-tip": `${claim.verdict}${claim.kind === "check" ? " (our own check)" : ""}\n${claim.statement}`,
                on: { click: () => set({ claim: claimId(claim) === state.claim ? "" : claimId(claim) }) },
              },
              SIGNS[claim.verdict] ?? "·",
            ),
          ),
        ),
      );
    }),
  );
  const claim = D.claims.find((one) => claimId(one) === state.claim);
  $("claim").hidden = !claim;
  if (!claim) return;
  const unit = claim.unit ? ` ${claim.unit}` : "";
  put(
    "claim",
    make("h3", {}, claim.statement),
    make(
      "dl",
      { class: "facts" },
      [
        ["verdict", `${claim.verdict}${claim.kind === "check" ? ", our own check" : ""}`],
        ["printed", claim.printed],
        ["ours", claim.measured && `${claim.measured}${unit}`],
        ["place", claim.place],
        ["its words", claim.quote],
        ["because", claim.reason],
      ]
        .filter(([, value]) => value)
        .flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]),
    ),
  );
}
