// Robots in motion: loops, leaves trails, shows the time, and is dragged to and fro.

const WIDTHS = { link: 6, slide: 2, ground: 1.5 };
const players = [];

const SHORTEST = 4; // seconds on the screen

class Player {
  constructor(figure, motion) {
    this.data = motion;
    this.figure = figure;
    this.canvas = figure.querySelector("canvas");
    this.button = figure.querySelector(".play");
    this.range = figure.querySelector("input[type=range]");
    this.output = figure.querySelector("output");
    this.trails = figure.querySelector(".trails");
    this.yaw = -0.6;
    this.pitch = 0.45;
    this.started = null;
    this.range.addEventListener("input", () => {
      this.stop();
      this.draw();
    });
    this.trails.addEventListener("change", () => this.draw());
    this.button.addEventListener("click", () => (this.started === null ? this.play() : this.stop()));
    for (const button of all("[data-turn]", figure))
      button.addEventListener("click", () => this.turn(0.2 * Number(button.dataset.turn), 0));
    this.canvas.addEventListener("pointerdown", (event) => this.canvas.setPointerCapture?.(event.pointerId));
    this.canvas.addEventListener("pointermove", (event) => {
      if (event.buttons !== 1) return;
      if (this.data.planar) this.scrub(event.movementX);
      else this.turn(event.movementX / 150, event.movementY / 150);
    });
    this.moving = movingPoints(motion);
    this.fit();
    this.draw();
  }

  get frame() {
    return Number(this.range.value);
  }

  get last() {
    return this.data.t.length - 1;
  }

  turn(yaw, pitch) {
    this.yaw += yaw;
    this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + pitch));
    this.fit();
    this.draw();
  }

  // so many pixels to the right: as far in time as across the picture
  scrub(pixels) {
    this.stop();
    this.rest = (this.rest ?? 0) + (pixels * this.last) / this.canvas.clientWidth;
    const whole = Math.trunc(this.rest);
    this.rest -= whole;
    this.range.value = Math.max(0, Math.min(this.last, this.frame + whole));
    this.draw();
  }

  project(x, y, z) {
    if (this.data.planar) return [x, -y];
    const side = Math.cos(this.yaw) * x - Math.sin(this.yaw) * y;
    const depth = Math.sin(this.yaw) * x + Math.cos(this.yaw) * y;
    return [side, depth * Math.sin(this.pitch) - z * Math.cos(this.pitch)];
  }

  // one scale for the whole motion, so that nothing jumps
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

  at(index, frame = this.frame) {
    const points = this.data.points[frame];
    const [x, y] = this.project(points[3 * index], points[3 * index + 1], points[3 * index + 2]);
    return [this.shift[0] + this.scale * x, this.shift[1] + this.scale * y];
  }

  draw() {
    const pen = this.canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const [ink, body, paper, trail] = ["--plot-ink", "--c0", "--mark", "--c1"].map((name) =>
      style.getPropertyValue(name).trim(),
    );
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.lineCap = pen.lineJoin = "round";
    if (this.trails.checked) this.drawTrails(pen, trail);
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
    const places = t[this.last] < 1 ? 4 : 2;
    const words = `${t[this.frame].toFixed(places)} s`;
    pen.fillStyle = ink;
    pen.font = "600 18px system-ui, sans-serif";
    pen.fillText(words, 14, 26);
    this.output.textContent = `${words} of ${t[this.last].toFixed(places)} s`;
    this.range.setAttribute("aria-valuetext", words);
  }

  drawTrails(pen, ink) {
    pen.strokeStyle = ink;
    pen.lineWidth = 1.4;
    for (const index of this.moving) {
      for (let frame = 1; frame <= this.frame; frame++) {
        pen.globalAlpha = 0.15 + (0.65 * frame) / Math.max(this.frame, 1);
        pen.beginPath();
        pen.moveTo(...this.at(index, frame - 1));
        pen.lineTo(...this.at(index, frame));
        pen.stroke();
      }
    }
    pen.globalAlpha = 1;
  }

  // from here to the end, and again from the beginning
  play() {
    const { t } = this.data;
    let from = t[this.frame >= this.last ? 0 : this.frame];
    if (this.frame >= this.last) this.range.value = 0;
    const speed = Math.min(1, (t[this.last] - t[0]) / SHORTEST); // a motion of milliseconds is shown slowly
    this.started = performance.now();
    this.label("Pause");
    const step = (now) => {
      if (this.started === null) return;
      let passed = from + (speed * (now - this.started)) / 1000;
      if (passed > t[this.last] + 0.5 * speed) {
        [from, passed] = [t[0], t[0]];
        this.started = now;
        this.range.value = 0;
      }
      let frame = this.frame;
      while (frame < this.last && t[frame + 1] <= passed) frame += 1;
      this.range.value = frame;
      this.draw();
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  stop() {
    this.started = null;
    this.label("Play");
  }

  label(words) {
    this.button.firstChild.textContent = words;
    this.button.setAttribute("aria-pressed", String(words === "Pause"));
  }
}

// the points that leave trails: the one that moves most of each end of a line, four at most
function movingPoints({ points, lines }) {
  const ends = [...new Set(lines.filter((line) => line[2] !== "ground").flatMap(([one, two]) => [one, two]))];
  const way = (index) => {
    let sum = 0;
    for (let frame = 1; frame < points.length; frame++)
      sum += Math.hypot(...[0, 1, 2].map((k) => points[frame][3 * index + k] - points[frame - 1][3 * index + k]));
    return sum;
  };
  const near = (a, b) =>
    points.every((frame) => Math.hypot(...[0, 1, 2].map((k) => frame[3 * a + k] - frame[3 * b + k])) < 1e-6);
  const kept = [];
  for (const [index, length] of ends.map((index) => [index, way(index)]).sort((a, b) => b[1] - a[1])) {
    if (kept.length === 4 || length < 1e-6) break;
    if (!kept.some((other) => near(other, index))) kept.push(index);
  }
  return kept;
}

// ---------------------------------------------------------------- which simulation or problem, which of its figures
function drawSimulations() {
  for (const chips of all("[data-choices]")) {
    const name = chips.dataset.choices; // of the state
    const found = all(".simulation", chips.parentElement);
    const chosen = found.find((one) => one.id === state[name]) ?? found[0];
    put(
      chips.id,
      found.map((one) =>
        make(
          "button",
          {
            type: "button",
            "data-key": `show-${one.id}`,
            "aria-pressed": String(one === chosen),
            on: { click: () => set({ [name]: one.id }) },
          },
          one.dataset.title,
        ),
      ),
    );
    for (const one of found) {
      one.classList.toggle("elsewhere", one !== chosen);
      if (one !== chosen) players.filter((player) => one.contains(player.figure)).forEach((player) => player.stop());
    }
  }
}

function addFigures() {
  for (const holder of all("[data-figure]")) {
    const { svg } = D.figures[holder.dataset.figure] ?? {};
    if (!svg) continue;
    // made by matplotlib and escaped in Python; a parser of XML runs no script
    const parsed = new DOMParser().parseFromString(
      svg.replace("<svg ", `<svg xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="${SVG}" `),
      "image/svg+xml",
    );
    if (parsed.querySelector("parsererror")) continue;
    holder.replaceChildren(document.importNode(parsed.documentElement, true));
  }
  for (const plots of all(".plots")) {
    const figures = all("figure", plots);
    if (figures.length < 2) continue;
    const show = (k) => {
      figures.forEach((figure, j) => figure.classList.toggle("elsewhere", j !== k));
      markScrollers();
    };
    const select = make(
      "select",
      { on: { change: (event) => show(Number(event.target.value)) } },
      figures.map((figure, k) => make("option", { value: k }, figure.dataset.title)),
    );
    plots.prepend(make("label", { class: "pick" }, "Figure ", select));
    show(0);
  }
}
