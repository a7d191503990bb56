// The player: a picture that moves, its controls, graphs, and the motion computed anew where sliders are moved.

const DARK = {rod: rgb("#aab4c0"), spring: rgb("#c9a227"), edge: rgb("#e8edf2"), mark: rgb("#10151b"), ground: rgb("#7d8894"),
              ink: "#e8edf2", paper: "#1c232b", faint: "#aab4c0", grid: "#3a444f", palette: BRIGHT};
const LIGHT = {rod: rgb("#5b6570"), spring: rgb("#8a6d00"), edge: rgb("#2b323a"), mark: rgb("#ffffff"), ground: rgb("#6f7a86"),
               ink: "#1c2229", paper: "#f3f5f7", faint: "#58626d", grid: "#d4dae0", palette: PALETTE};

function element(kind, attributes = {}, ...inside) {
  const made = document.createElement(kind);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== undefined) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...inside);
  return made;
}

const ARROW = 0.45;  // Length of the longest arrow, in halves of the height of the picture.

class Player {
  constructor(root, data) {
    this.root = root;
    this.data = readData(data);
    this.words = data.words;
    this.tape = new Tape(data.tape);
    this.reader = new Reader(data, this.tape);
    this.recorded = data.runs;
    this.runs = data.runs;
    this.chosen = data.quantities.flatMap((q, i) => q.shown ? [i] : []);
    this.dark = window.matchMedia("(prefers-color-scheme: dark)");
    this.frames = 0;
    this.build();
    this.measure();
    this.follow.checked = this.travels;
    this.camera = new Camera(data.spatial, this.measures.middle, this.measures.reach);
    this.makePainter();
    this.now = this.span[0];
    this.playing = !window.matchMedia("(prefers-reduced-motion: reduce)").matches && data.autoplay !== false;
    this.listen();
    this.setPlaying(this.playing);
    this.refresh();
    requestAnimationFrame(t => this.tick(t));
    if (data.live) this.startLive();
  }

  get theme() { return this.dark.matches ? DARK : LIGHT; }
  word(key) { return this.words[key] || key; }

  makePainter() {
    try {
      if (this.data.renderer === "canvas") throw new Error("asked for");
      this.painter = new WebGLPainter(this.canvas);
    } catch (error) {
      const fresh = this.canvas.cloneNode();
      this.canvas.replaceWith(fresh);
      this.canvas = fresh;
      this.painter = new CanvasPainter(fresh);
    }
    this.root.dataset.renderer = this.painter.kind;
  }

  build() {
    const w = key => this.word(key);
    this.canvas = element("canvas", {class: "picture", role: "img", tabindex: "0", "aria-label": `${this.data.title}. ${w("picture")}`});
    this.overlay = element("canvas", {class: "overlay", "aria-hidden": "true"});
    this.view = element("div", {class: "view"}, this.canvas, this.overlay);
    this.button = element("button", {type: "button", class: "play", onclick: () => this.setPlaying(!this.playing)});
    this.scrub = element("input", {type: "range", class: "scrub", min: 0, max: 1000, step: 1, value: 0, "aria-label": w("time"),
      oninput: () => { const [a, b] = this.span; this.now = a + (b - a) * this.scrub.value / 1000; this.setPlaying(false); this.refresh(); }});
    this.clock = element("output", {class: "clock"}, "");
    this.speed = element("select", {"aria-label": w("speed")},
      ...[0.1, 0.25, 0.5, 1, 2, 5, 10, 50].map(s => element("option", {value: s, selected: s === 1}, `${s}×`)));
    this.trails = element("input", {type: "checkbox", checked: true, onchange: () => this.refresh()});
    this.ghosts = element("input", {type: "checkbox", checked: true, onchange: () => this.refresh()});
    this.follow = element("input", {type: "checkbox", onchange: () => { this.camera.reset(); this.refresh(); }});
    const home = element("button", {type: "button", onclick: () => { this.camera.reset(); this.refresh(); }}, w("home"));
    const boxes = [element("label", {}, this.trails, ` ${w("trails")}`), element("label", {}, this.follow, ` ${w("follow")}`)];
    if (this.runs.some(r => r.lanes.length > 1)) boxes.push(element("label", {}, this.ghosts, ` ${w("lanes")}`));
    const bar = element("div", {class: "bar"}, this.button, this.scrub, this.clock);
    const more = element("div", {class: "more"}, element("label", {}, `${w("speed")} `, this.speed), ...boxes, home);
    this.plot = element("canvas", {class: "plot", role: "img", "aria-label": w("graph")});
    this.graph = new Graph(this.plot, this.data, this.words);
    const choices = this.data.quantities.map((q, i) => element("label", {}, element("input", {type: "checkbox", checked: this.chosen.includes(i),
      onchange: e => { this.chosen = e.target.checked ? [...this.chosen, i].sort((a, b) => a - b) : this.chosen.filter(k => k !== i); this.refresh(); }}), ` ${q.name}`));
    const graphs = element("section", {class: "graphs", "aria-label": w("graph")}, element("div", {class: "choices"}, ...choices), this.plot);
    this.notes = element("p", {class: "notes", role: "status"});
    this.panel = element("section", {class: "panel", hidden: true, "aria-label": w("compute")});
    this.root.append(element(`h${this.data.heading || 1}`, {class: "title"}, this.data.title), element("div", {class: "stage"},
      element("div", {class: "left"}, this.view, bar, more), element("div", {class: "right"}, this.panel, graphs)), this.notes);
    this.tell();
  }

  tell() { this.notes.textContent = [...new Set(this.runs.flatMap(r => r.notes || []).concat(this.data.notes || []))].join(" "); }

  // Size and middle of the picture, lengths of arrows and range of temperatures, from some states of all motions.
  measure() {
    const whole = new Bounds(), longest = {}, warmth = [Infinity, -Infinity], moments = [];
    for (const run of this.runs) for (const lane of run.lanes) {
      const sizes = [];
      this.states(run, lane, 160, out => {
        const moment = this.boundsOf(out, whole).reach(this.data.spatial);
        moments.push(moment);
        sizes.push(Math.max(moment, sizes.at(-1) || 0));
        for (const item of this.data.items) {
          const v = valuesOf(item, out);
          if (item.kind === "Vector") longest[item.vector] = Math.max(longest[item.vector] || 0, size(v.slice(3, 6)) || 0);
          if (item.kind === "Gas") { warmth[0] = Math.min(warmth[0], v[7]); warmth[1] = Math.max(warmth[1], v[7]); }
        }
      });
      lane.sizes = sizes;
    }
    const middle = whole.middle, widest = whole.reach(this.data.spatial), usual = median(moments);
    // A point alone has no size that a picture could follow.
    this.travels = usual > 0.002 * widest && (widest > 5 * Math.max(...moments) || widest > 8 * usual);
    const needed = part => Math.max(widest, this.needed(middle, longest, part));
    const part = !this.travels && needed(ARROW) > widest ? 0.6 * ARROW : ARROW, reach = needed(part);
    const scales = Object.fromEntries(Object.entries(longest).map(([kind, v]) => [kind, v > 0 ? part / v : 0]));
    this.measures = {middle, reach, span: 2.6 * reach, unit: 0.011 * reach, scales, warmth, spatial: this.data.spatial};
    this.span = spanOf(this.runs);
  }

  // Up to `most` states of a lane, one after the other.
  states(run, lane, most, use) {
    const count = Math.min(lane.count, most);
    for (let i = 0; i < count; i++) use(this.reader.at(run, lane, run.time[Math.floor(i * (lane.count - 1) / Math.max(count - 1, 1))]));
  }

  // Half the height of the picture in which all places are inside, and the tips of arrows, the longest of which is `part` of it.
  needed(middle, longest, part) {
    const camera = new Camera(this.data.spatial, middle, 1);
    let most = 0;
    for (const run of this.runs) for (const lane of run.lanes) this.states(run, lane, 50, out => {
      for (const item of this.data.items) {
        const v = valuesOf(item, out), d = item.kind === "Vector" && longest[item.vector] > 0 ? times(part / longest[item.vector], v.slice(3, 6)) : [0, 0, 0];
        for (const p of placesOf(item, v)) { const h = camera.heightFor(sub(p, middle), d); if (h > most) most = h; }
      }
    });
    return most;
  }

  // The room that the bodies take in a state; added to that of the whole motion, with the ground and the trails.
  boundsOf(out, whole) {
    const moment = new Bounds();
    for (const item of this.data.items) {
      const places = placesOf(item, valuesOf(item, out));
      for (const p of places) {
        if (whole) whole.add(p);
        if (item.kind !== "Ground" && item.kind !== "Trail") moment.add(p);
      }
    }
    return moment;
  }

  // Where the picture follows the motion, its middle is that of the present state, and its size the largest so far: it does not pulsate.
  aim(run) {
    const whole = this.measures;
    if (!this.follow.checked) { this.camera.aim(whole.middle, whole.reach); return whole; }
    const lane = run.lanes[0], now = this.boundsOf(this.reader.at(run, lane, this.now));
    const reach = Math.max(1.7 * Math.max(now.reach(this.data.spatial), sizeUntil(run, lane, this.now)), 0.02 * whole.reach);
    this.camera.aim(now.middle, reach);
    return {...whole, middle: now.middle, reach, span: 2.6 * reach, unit: 0.011 * reach};
  }

  setPlaying(playing) {
    this.playing = playing;
    this.button.textContent = playing ? "❚❚" : "▶";
    this.button.setAttribute("aria-label", this.word(playing ? "pause" : "play"));
    this.button.title = this.word(playing ? "pause" : "play");
  }

  tick(t) {
    if (!this.root.isConnected) { this.painter.free(); return; }
    const passed = Math.min((t - (this.before || t)) / 1000, 0.1);
    this.before = t;
    if (this.playing) {
      const [a, b] = this.span;
      this.now += passed * this.data.speed * this.speed.value;
      if (this.now > b) this.now = a;
      this.refresh();
    }
    requestAnimationFrame(next => this.tick(next));
  }

  refresh() {
    const [a, b] = this.span;
    this.scrub.value = b > a ? Math.round(1000 * (this.now - a) / (b - a)) : 0;
    this.clock.textContent = `t = ${clockText(this.now, a, b)}`;
    this.scrub.setAttribute("aria-valuetext", this.clock.textContent);
    this.paint();
    this.graph.draw(this.runs, this.chosen, this.now, this.theme);
    this.frames++;
    this.root.dataset.frames = this.frames;
  }

  resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2), box = this.view.getBoundingClientRect();
    for (const c of [this.canvas, this.overlay]) {
      const [w, h] = [Math.max(1, Math.round(box.width * ratio)), Math.max(1, Math.round(box.height * ratio))];
      if (c.width !== w || c.height !== h) { c.width = w; c.height = h; }
    }
    return ratio;
  }

  paint() {
    const ratio = this.resize(), parts = this.runs.length, width = Math.floor(this.canvas.width / parts);
    const c = this.overlay.getContext("2d");
    c.clearRect(0, 0, this.overlay.width, this.overlay.height);
    c.font = `${14 * ratio}px system-ui, sans-serif`;
    this.painter.begin();
    this.runs.forEach((run, r) => {
      const batch = this.batch || (this.batch = new Batch()), measures = this.aim(run);
      batch.clear();
      batch.aim(measures.middle, measures.reach);
      batch.seen = r => this.camera.pixels(r, width, this.canvas.height);
      this.fill(batch, run, r, c, width, ratio, measures);
      this.painter.paint(batch, this.camera, r * width, width);
      if (parts > 1) {
        c.fillStyle = this.theme.palette[r % PALETTE.length];
        c.fillText(run.label, r * width + 10 * ratio, 18 * ratio);
        c.fillStyle = this.theme.grid;
        if (r) c.fillRect(r * width, 0, ratio, this.overlay.height);
      }
    });
    this.objects = this.batch.count;
  }

  fill(batch, run, r, c, width, ratio, measures) {
    const builder = new Builder(batch, measures, this.theme), lanes = this.ghosts.checked ? run.lanes : run.lanes.slice(0, 1);
    for (let l = lanes.length - 1; l >= 0; l--) {
      const out = this.reader.at(run, lanes[l], this.now), items = this.data.items;
      builder.alpha = l === 0 ? 1 : 0.22;
      items.forEach((item, k) => {
        if (l > 0 && item.kind === "Ground") return;
        const v = valuesOf(item, out);
        if (item.kind !== "Vector" && !v.every(Number.isFinite)) return;
        builder.lift = this.data.spatial ? 0 : Math.min(6 * measures.unit, 2 * measures.reach / items.length) * (k + 1);
        builder.draw(item, v, item.colourIndex);
        if (item.label && l === 0) {
          const [x, y] = this.camera.onto(builder.labelPlace(item, v), r * width, width, this.canvas.height);
          c.strokeStyle = this.theme.paper;
          c.fillStyle = this.theme.ink;
          c.lineWidth = 4 * ratio;
          c.lineJoin = "round";
          c.strokeText(item.label, x + 9 * ratio, y - 9 * ratio);
          c.fillText(item.label, x + 9 * ratio, y - 9 * ratio);
        }
      });
    }
    builder.alpha = 1;
    builder.lift = 0;
    if (this.trails.checked) lanes.forEach((lane, l) => this.drawTrails(builder, run, lane, l));
  }

  drawTrails(builder, run, lane, l) {
    const trails = this.data.items.filter(i => i.kind === "Trail");
    if (!trails.length) return;
    const [a, b] = this.span, longest = Math.max(...trails.map(t => t.fraction)), paths = trails.map(() => []);
    const from = Math.max(a, this.now - longest * (b - a)), frames = 2 + run.frames * (this.now - from) / Math.max(b - a, 1e-300);
    const n = Math.ceil(Math.min(frames, l ? 120 : 500));
    for (let i = 0; i <= n; i++) {
      const t = from + (this.now - from) * i / n, out = this.reader.at(run, lane, t);
      trails.forEach((item, k) => {
        const v = valuesOf(item, out);
        if (t >= this.now - item.fraction * (b - a) && v.every(Number.isFinite)) paths[k].push(v.slice(0, 3));
      });
    }
    builder.alpha = l ? 0.4 : 1;
    trails.forEach((item, k) => builder.trail(paths[k], builder.colour(item, item.colourIndex)));
    builder.alpha = 1;
  }

  listen() {
    const held = new Map();
    let apart = 0;
    const view = this.view;
    this.grip = new Grip(this);
    let taken = false;
    view.addEventListener("pointerdown", e => {
      const box = view.getBoundingClientRect();
      taken = !held.size && this.grip.take(e.clientX - box.left, e.clientY - box.top);
      held.set(e.pointerId, [e.clientX, e.clientY]);
      view.setPointerCapture(e.pointerId);
      apart = 0;
      this.holding = taken;
      if (taken) this.refresh();
    });
    const away = e => {
      held.delete(e.pointerId);
      apart = 0;
      if (this.holding) { this.holding = taken = false; this.after(); }
    };
    view.addEventListener("pointerup", away);
    view.addEventListener("pointercancel", away);
    view.addEventListener("pointermove", e => {
      if (!held.has(e.pointerId)) return;
      const [x, y] = held.get(e.pointerId), dx = e.clientX - x, dy = e.clientY - y;
      held.set(e.pointerId, [e.clientX, e.clientY]);
      if (taken && held.size === 1) { this.grip.move(dx, dy); return; }
      if (held.size === 2) {
        const [p, q] = [...held.values()], d = Math.hypot(p[0] - q[0], p[1] - q[1]);
        if (apart) this.camera.zoom(apart / d);
        apart = d;
      } else if (this.data.spatial && !e.shiftKey) this.camera.orbit(dx, dy);
      else this.camera.pan(dx, dy, view.clientHeight);
      this.refresh();
    });
    view.addEventListener("wheel", e => { e.preventDefault(); this.camera.zoom(Math.exp(0.0012 * e.deltaY)); this.refresh(); }, {passive: false});
    this.canvas.addEventListener("keydown", e => this.key(e));
    view.addEventListener("keydown", e => { if (e.target !== this.canvas) this.key(e); });
    window.addEventListener("resize", () => this.refresh());
    this.dark.addEventListener("change", () => this.refresh());
    this.plot.addEventListener("pointerdown", e => this.seek(e));
    this.plot.addEventListener("pointermove", e => { if (e.buttons) this.seek(e); });
    window.addEventListener("pagehide", e => { if (!e.persisted) this.painter.free(); });
  }

  seek(e) {
    const {left, right, t0, t1} = this.graph.range, x = e.clientX - this.plot.getBoundingClientRect().left;
    this.now = t0 + (t1 - t0) * Math.min(Math.max((x - left) / (right - left), 0), 1);
    this.setPlaying(false);
    this.refresh();
  }

  key(e) {
    const [a, b] = this.span, step = (b - a) / 200;
    const keys = {
      " ": () => this.setPlaying(!this.playing), k: () => this.setPlaying(!this.playing),
      ",": () => { this.now = Math.max(a, this.now - step); }, ".": () => { this.now = Math.min(b, this.now + step); },
      Home: () => { this.now = a; }, End: () => { this.now = b; }, "+": () => this.camera.zoom(0.9), "-": () => this.camera.zoom(1.1),
      ArrowLeft: () => this.camera.spatial ? this.camera.orbit(-20, 0) : this.camera.pan(30, 0, 600),
      ArrowRight: () => this.camera.spatial ? this.camera.orbit(20, 0) : this.camera.pan(-30, 0, 600),
      ArrowUp: () => this.camera.spatial ? this.camera.orbit(0, 20) : this.camera.pan(0, 30, 600),
      ArrowDown: () => this.camera.spatial ? this.camera.orbit(0, -20) : this.camera.pan(0, -30, 600), 0: () => this.camera.reset(),
    };
    if (!keys[e.key]) return;
    e.preventDefault();
    keys[e.key]();
    this.refresh();
  }

  // The motion computed in the page.
  async startLive() {
    try { this.live = await Live.load(this.data); } catch (error) { this.notes.textContent += ` ${this.word("nolive")} (${error.message})`; return; }
    const t = this.data.live, w = key => this.word(key);
    this.asked = {parameters: t.parameters.map(p => p.value), q: [...t.start.q], v: [...t.start.v], S: [...t.start.S], m: [...(t.start.m || [])], t: t.t0, h: t.h, until: t.until};
    const sliders = [];
    const slider = (name, at, told, change) => {
      const shown = element("output", {}, short(told.value));
      const input = element("input", {type: "range", min: told.low, max: told.high, step: "any", value: told.value, "aria-label": name,
        oninput: () => { change(+input.value); shown.textContent = short(+input.value); this.recompute(); }});
      sliders.push(() => { input.value = told.value; change(told.value); shown.textContent = short(told.value); });
      return element("label", {class: "slider"}, element("span", {}, name), input, shown);
    };
    const group = (title, open, inside) => inside.length ? [element("details", {open}, element("summary", {}, title), ...inside)] : [];
    const parameters = t.parameters.map((p, i) => slider(p.name, i, p, x => { this.asked.parameters[i] = x; }));
    const starts = t.sliders.map(s => slider(s.name, 0, s, x => { this.asked[s.kind][s.index] = x; }));
    this.shown = t.sliders.map((s, i) => () => {
      starts[i].querySelector("input").value = this.asked[s.kind][s.index];
      starts[i].querySelector("output").textContent = short(this.asked[s.kind][s.index]);
    });
    const steps = [slider("h", 0, {value: t.h, low: t.h / 10, high: t.h * 10}, x => { this.asked.h = x; }),
                   slider(w("until"), 0, {value: t.until, low: t.t0 + (t.until - t.t0) / 10, high: t.t0 + 3 * (t.until - t.t0)}, x => { this.asked.until = x; })];
    const names = t.methods.map((m, i) => [i, m.label]);
    const select = (label, options, value) => {
      const made = element("select", {"aria-label": label, onchange: () => this.recompute()}, ...options.map(([v, name]) => element("option", {value: v, selected: v === value}, name)));
      return [element("label", {class: "slider"}, element("span", {}, label), made), made];
    };
    const other = (this.recorded[1] || {}).label || "";  // where two methods were recorded, both are computed
    const second = t.methods.findIndex((m, i) => i && (other === m.label || other.startsWith(`${m.label},`)));
    const [methodRow, method] = select(w("method"), names, 0), [besideRow, beside] = select(w("beside"), [[-1, "—"], ...names], second);
    this.method = method;
    this.beside = beside;
    const back = element("button", {type: "button", onclick: () => { sliders.forEach(s => s()); method.value = 0; beside.value = second; this.asRecorded(); }}, w("recorded"));
    this.panel.append(element(`h${(this.data.heading || 1) + 1}`, {class: "subtitle"}, w("compute")), methodRow, besideRow, ...group(w("parameters"), true, parameters),
      ...group(w("start"), window.innerWidth > 800, starts), ...group(w("step"), false, steps), back);
    this.panel.hidden = false;
    this.root.dataset.live = "ready";
    this.refresh();
  }

  // Sliders that say what is asked for, after it was changed otherwise.
  showAsked() { for (const show of this.shown) show(); }

  asRecorded() { this.runs = this.recorded; this.after(); }

  recompute() {
    const a = this.asked, wanted = [+this.method.value, +this.beside.value].filter(i => i >= 0);
    const steps = Math.min(Math.max(1, Math.round((a.until - a.t) / a.h)), this.data.live.mostSteps), notes = [];
    try {
      this.runs = wanted.map(i => this.live.motion({...a, method: i, steps, parameters: [...a.parameters]}));
      for (const run of this.runs) if (run.code) notes.push(`${run.label}: ${this.data.live.sentences[run.code] || run.code}`);
    } catch (error) { notes.push(error.message); }
    this.after();
    this.notes.textContent = notes.join(" ");
    this.root.dataset.computed = (+this.root.dataset.computed || 0) + 1;
  }

  after() {
    this.tell();
    if (this.holding) this.span = spanOf(this.runs);  // the picture keeps its size under the hand
    else this.measure();
    this.now = Math.min(Math.max(this.now, this.span[0]), this.span[1]);
    this.refresh();
  }
}

class Bounds {
  constructor() { this.low = [Infinity, Infinity, Infinity]; this.high = [-Infinity, -Infinity, -Infinity]; }
  add(p) {
    if (!p.every(Number.isFinite)) return;
    for (let k = 0; k < 3; k++) { this.low[k] = Math.min(this.low[k], p[k]); this.high[k] = Math.max(this.high[k], p[k]); }
  }
  get middle() { return this.low.map((a, k) => Number.isFinite(a) ? (a + this.high[k]) / 2 : 0); }
  reach(spatial) {
    const half = this.low.map((a, k) => Number.isFinite(a) ? (this.high[k] - a) / 2 : 0);
    return 1.18 * Math.max(spatial ? 0.88 * size(half) : Math.max(half[1], half[0] / WIDE), 1e-9 * Math.max(...this.middle.map(Math.abs))) || 1;
  }
}

// The largest size of the states of a lane until some time, between those that were measured.
function sizeUntil(run, lane, t) {
  const sizes = lane.sizes || [0], last = sizes.length - 1, a = run.time[0], b = run.time[lane.count - 1];
  const at = b > a ? Math.min(Math.max((t - a) / (b - a), 0), 1) * last : 0, i = Math.min(Math.floor(at), Math.max(last - 1, 0));
  return last > 0 ? sizes[i] + (at - i) * (sizes[i + 1] - sizes[i]) : sizes[0];
}

function median(values) { return values.slice().sort((a, b) => a - b)[values.length >> 1] || 0; }

function valuesOf(item, out) {
  const found = new Array(item.at.length);
  for (let i = 0; i < found.length; i++) found[i] = out[item.at[i]];
  return found;
}

for (const root of document.querySelectorAll(".dalembert-player:not([data-started])")) {
  root.dataset.started = "yes";
  const held = root.querySelector("script[type='application/json']");
  try { root.player = new Player(root, JSON.parse(held.textContent)); }
  catch (error) { root.append(element("p", {class: "notes", role: "alert"}, String(error.message || error))); throw error; }
}
