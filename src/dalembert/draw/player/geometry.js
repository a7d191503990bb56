// Items of a scene -> instances of a few meshes: a matrix of 3 x 4 numbers and a colour each.

const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#aa4499", "#56b4e9", "#b8860b", "#5b3a8c", "#8c564b"];
const BRIGHT = ["#56b4e9", "#ff8c42", "#2fcf9f", "#e08ad0", "#a5d8ff", "#e0b040", "#b39ddb", "#d7a58f"];  // on dark
const STRIDE = 16;
const RING = 0.04;  // How thick a ring is, in parts of its radius.
const MESHES = ["box", "bar", "wire", "disc", "ball", "bead", "globe", "ring", "cone", "tri"];
// What is small on the screen has few corners: the mesh, and the radius in pixels up to which another one stands for it.
const SMALLER = {bar: [["wire", 1.5]], ball: [["bead", 10]], globe: [["bead", 10], ["ball", 50]]};

function rgb(text) {
  const n = parseInt(text.slice(1), 16);
  return [(n >> 16 & 255) / 255, (n >> 8 & 255) / 255, (n & 255) / 255];
}
const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (k, a) => [k * a[0], k * a[1], k * a[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const size = a => Math.hypot(a[0], a[1], a[2]);
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = a => { const s = size(a); return s > 0 ? times(1 / s, a) : [0, 0, 1]; };
function across(d) {
  const first = unit(Math.abs(d[2]) < 0.9 ? cross([0, 0, 1], d) : cross([1, 0, 0], d));
  return [first, cross(d, first)];
}

class Batch {
  constructor() { this.lift = 0; this.seen = () => Infinity; this.aim([0, 0, 0], 1); this.lists = {}; for (const m of MESHES) this.lists[m] = {data: new Float32Array(STRIDE * 64), n: 0, clear: 0}; }
  // Instances are in lengths of the picture, as the camera is.
  aim(middle, size) { this.middle = middle; this.scale = 1 / size; }
  clear() { for (const m of MESHES) this.lists[m].n = this.lists[m].clear = 0; }
  get count() { return MESHES.reduce((sum, m) => sum + this.lists[m].n, 0); }
  pixels(length) { return this.seen(this.scale * length); }
  put(whole, x, y, z, at, colour, alpha) {
    const few = SMALLER[whole], r = few && this.pixels(size(x)), other = few && few.find(([, most]) => r < most);
    this.write(other ? other[0] : whole, x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2], at, colour, alpha);
  }
  // Most of what is drawn are lines, so these are written without arrays in between.
  bar(a, b, r, colour, alpha) {
    const dx = b[0] - a[0], dy = b[1] - a[1], dz = b[2] - a[2], length = Math.sqrt(dx * dx + dy * dy + dz * dz);
    if (!(length > 0)) return;
    const upright = Math.abs(dz) >= 0.9 * length, k = r / Math.sqrt(upright ? dy * dy + dz * dz : dx * dx + dy * dy), s = 1 / length;
    const x = upright ? 0 : -k * dy, y = upright ? -k * dz : k * dx, z = upright ? k * dy : 0;
    const mesh = this.pixels(r) < SMALLER.bar[0][1] ? SMALLER.bar[0][0] : "bar";
    this.write(mesh, x, y, z, s * (dy * z - dz * y), s * (dz * x - dx * z), s * (dx * y - dy * x), dx, dy, dz, a, colour, alpha);
  }
  write(mesh, x0, x1, x2, y0, y1, y2, z0, z1, z2, at, colour, alpha) {
    const list = this.lists[mesh];
    if ((list.n + 1) * STRIDE > list.data.length) {
      const larger = new Float32Array(list.data.length * 2);
      larger.set(list.data);
      list.data = larger;
    }
    const d = list.data, j = list.n * STRIDE, s = this.scale, m = this.middle;
    d[j] = s * x0; d[j + 1] = s * x1; d[j + 2] = s * x2;
    d[j + 3] = s * y0; d[j + 4] = s * y1; d[j + 5] = s * y2;
    d[j + 6] = s * z0; d[j + 7] = s * z1; d[j + 8] = s * z2;
    d[j + 9] = s * (at[0] - m[0]); d[j + 10] = s * (at[1] - m[1]); d[j + 11] = s * (at[2] - m[2] + this.lift);
    d[j + 12] = colour[0]; d[j + 13] = colour[1]; d[j + 14] = colour[2]; d[j + 15] = alpha;
    list.n++;
    if (!(alpha > 0.99)) list.clear++;  // what is transparent is drawn last
  }
}

// Draws the items of one state. `unit` is the width of a line of width 1, `span` the size of the picture.
class Builder {
  constructor(batch, measures, theme) {
    this.batch = batch;
    this.m = measures;
    this.theme = theme;
    this.alpha = 1;
  }
  set lift(z) { this.batch.lift = z; }  // in the plane later items lie above earlier ones

  line(a, b, width, colour, alpha = 1) { this.batch.bar(a, b, width * this.m.unit, colour, alpha * this.alpha); }

  lines(points, width, colour, alpha = 1) {
    for (let i = 1; i < points.length; i++) this.line(points[i - 1], points[i], width, colour, alpha);
  }

  ball(at, r, colour, alpha = 1, mesh = "ball") {
    this.batch.put(mesh, [r, 0, 0], [0, r, 0], [0, 0, r], at, colour, alpha * this.alpha);
  }

  fill(points, colour, alpha = 1) {
    for (let i = 2; i < points.length; i++) {
      const x = sub(points[i - 1], points[0]), y = sub(points[i], points[0]);
      const z = unit(cross(x, y));
      this.batch.put("tri", x, y, z, points[0], colour, alpha * this.alpha);
    }
  }

  circle(at, radius, x, y, from = 0, to = 2 * Math.PI) {
    const whole = Math.min(56, Math.max(12, Math.ceil(6 * Math.sqrt(this.batch.pixels(radius))))), points = [];
    const n = Math.max(6, Math.ceil(whole * Math.abs(to - from) / (2 * Math.PI)));
    for (let i = 0; i <= n; i++) {
      const a = from + (to - from) * i / n;
      points.push(add(at, add(times(radius * Math.cos(a), x), times(radius * Math.sin(a), y))));
    }
    return points;
  }

  colour(item, k, usual) { return item.colour ? rgb(item.colour) : usual || rgb(this.theme.palette[k % PALETTE.length]); }

  draw(item, v, k) { this[item.kind](item, v, k); }

  Point(item, v, k) { this.ball(v.slice(0, 3), item.size * 2.6 * this.m.unit, this.colour(item, k)); }
  Rod(item, v) { this.line(v.slice(0, 3), v.slice(3, 6), item.width, this.colour(item, 0, this.theme.rod)); }
  Rope(item, v) { this.lines(triples(v), item.width * 0.4, this.colour(item, 0, this.theme.rod)); }

  Spring(item, v) {
    const a = v.slice(0, 3), d = sub(v.slice(3, 6), a), length = size(d);
    if (!(length > 0)) return;
    const along = times(1 / length, d), r = Math.min(3.2 * item.width * this.m.unit, 0.35 * length), colour = this.colour(item, 0, this.theme.spring);
    let [x, y] = across(along);
    const flat = !this.m.spatial, n = item.coils * (flat ? 2 : Math.min(Math.max(Math.round(2 * this.batch.pixels(r)), 6), 14)), points = [a];
    if (flat) x = [-along[1], along[0], 0];
    for (let i = 0; i <= n; i++) {
      const s = 0.08 + 0.84 * i / n, turn = 2 * Math.PI * item.coils * i / n;
      const out = flat ? times(i === 0 || i === n ? 0 : i % 2 ? r : -r, x)
                       : add(times(r * Math.cos(turn), x), times(r * Math.sin(turn), y));
      points.push(add(add(a, times(s * length, along)), out));
    }
    points.push(add(a, d));
    this.lines(points, 0.45 * Math.min(item.width, 1.5), colour);
  }

  Polygon(item, v, k) {
    const points = triples(v), colour = this.colour(item, k);
    this.fill(points, colour, 0.85);
    this.lines([...points, points[0]], 0.3, this.theme.edge);
  }

  solidDisc(at, r, x, y, z, colour) {
    const half = this.m.spatial ? 0.04 * r : 0.02 * this.m.unit;
    this.batch.put("disc", times(r, x), times(r, y), times(2 * half, z), sub(at, times(half, z)), colour, this.alpha);
    return half;
  }

  Disc(item, v, k) {
    const [at, r, x, y, z] = turned(v), colour = this.colour(item, k);
    const half = this.solidDisc(at, r, x, y, z, colour);
    for (const side of this.m.spatial ? [half, -half] : [half]) {
      const face = add(at, times(side + Math.sign(side) * 0.3 * this.m.unit, z));
      this.line(face, add(face, times(0.92 * r, x)), 0.35, this.theme.mark);
      this.ball(face, 0.9 * this.m.unit, this.theme.mark);
    }
    this.lines(this.circle(at, r, x, y), 0.3, this.theme.edge);
  }

  Wheel(item, v, k) {
    const [at, r, x, y, z] = turned(v), colour = this.colour(item, k);
    this.lines(this.circle(at, r, x, y), Math.min(1.2, 0.12 * r / this.m.unit), colour);
    for (let i = 0; i < 6; i++) {
      const a = i * Math.PI / 3, rim = add(times(Math.cos(a), x), times(Math.sin(a), y));
      this.line(at, add(at, times(r, rim)), i ? 0.35 : 0.8, i ? this.theme.rod : rgb(this.theme.palette[(k + 1) % PALETTE.length]));
    }
    this.line(sub(at, times(1.5 * this.m.unit, z)), add(at, times(1.5 * this.m.unit, z)), 1.6, this.theme.rod);
  }

  Hoop(item, v, k) {
    const [at, r, x, y, , rest] = turned(v);
    this.lines(this.circle(at, r, x, y, rest[0], rest[1]), 0.9 * item.width, this.colour(item, k, this.theme.rod));
  }

  Sphere(item, v, k) {
    const [at, r, x, y, z] = turned(v);
    this.ball(at, r, this.colour(item, k), 1, "globe");
    const small = RING * r < 0.3 * this.m.unit;
    if (this.m.spatial) for (const [a, b, c] of [[x, y, z], [y, z, x], [z, x, y]]) {
      if (small) this.batch.put("ring", times(r, a), times(r, b), times(r, c), at, this.theme.mark, this.alpha);
      else this.lines(this.circle(at, 1.004 * r, a, b), 0.3, this.theme.mark);
    }
    else this.line(add(at, [0, 0, r]), add(add(at, times(0.9 * r, x)), [0, 0, r]), 0.35, this.theme.mark);
  }

  Box(item, v, k) {
    const at = v.slice(0, 3), sides = v.slice(3, 6), [x, y, z] = axes(v.slice(6, 15));
    const thick = this.m.spatial ? sides[2] || 0.02 * Math.max(sides[0], sides[1]) : 0.02 * this.m.unit;
    this.block(at, [times(sides[0], x), times(sides[1], y), times(thick, z)], this.colour(item, k), 1);
  }

  block(at, [x, y, z], colour, alpha) {
    this.batch.put("box", x, y, z, at, colour, alpha * this.alpha);
    const corner = (i, j, k) => add(at, add(times(i / 2, x), add(times(j / 2, y), times(k / 2, z))));
    const ends = [-1, 1];
    for (const i of ends) for (const j of ends) {
      this.line(corner(i, -1, j), corner(i, 1, j), 0.25, this.theme.edge);
      this.line(corner(-1, i, j), corner(1, i, j), 0.25, this.theme.edge);
      if (this.m.spatial) this.line(corner(i, j, -1), corner(i, j, 1), 0.25, this.theme.edge);
    }
  }

  Blade(item, v, k) {
    const at = v.slice(0, 3), d = unit(v.slice(3, 6)), half = times(v[6] / 2, d), [x, y] = across(d);
    const up = this.m.spatial ? [0, 0, 1] : [0, 0, 1], w = 1.1 * this.m.unit, side = unit(cross(up, d));
    this.batch.put("box", times(2, half), times(w, side), times(this.m.spatial ? 4 * w : w, up), at, this.colour(item, 1), this.alpha);
  }

  Ground(item, v) {
    const at = v.slice(0, 3), n = unit(v.slice(3, 6)), colour = this.colour(item, 0, this.theme.ground), reach = this.m.span;
    const middle = sub(this.m.middle, times(dot(sub(this.m.middle, at), n), n));
    if (!this.m.spatial) {
      const d = [n[1], -n[0], 0], step = cell(reach / 22), first = add(at, times(step * Math.round(dot(sub(middle, at), d) / step), d));
      this.line(sub(middle, times(reach, d)), add(middle, times(reach, d)), 0.4, colour);
      for (let i = -30; i < 30; i++) {
        const p = add(first, times((i + 0.7) * step, d));
        this.line(p, sub(sub(p, times(0.45 * step, d)), times(0.6 * step, n)), 0.16, colour);
      }
      return;
    }
    const [x, y] = across(n), step = cell(0.1 * reach), half = 8 * step;
    const whole = d => times(step * Math.round(dot(sub(middle, at), d) / step), d), snapped = add(at, add(whole(x), whole(y)));
    const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([i, j]) => add(snapped, add(times(half * i, x), times(half * j, y))));
    this.fill(corners.map(p => sub(p, times(0.6 * this.m.unit, n))), colour, 0.13);
    for (let i = -8; i <= 8; i++) {
      const s = half * i / 8;
      this.line(add(snapped, add(times(s, x), times(-half, y))), add(snapped, add(times(s, x), times(half, y))), 0.12, colour, 0.5);
      this.line(add(snapped, add(times(-half, x), times(s, y))), add(snapped, add(times(half, x), times(s, y))), 0.12, colour, 0.5);
    }
  }

  Gas(item, v) {
    const a = v.slice(0, 3), d = sub(v.slice(3, 6), a), w = v[6], [low, high] = this.m.warmth;
    const part = high > low ? Math.min(Math.max((v[7] - low) / (high - low), 0), 1) : 0.5;
    const [x, y] = this.m.spatial ? across(unit(d)) : [unit([-d[1], d[0], 0]), [0, 0, 1]];
    const deep = this.m.spatial ? w : 0.02 * this.m.unit;
    this.block(add(a, times(0.5, d)), [d, times(w, x), times(deep, y)], warmColour(part), this.m.spatial ? 0.55 : 0.8);
  }

  arrow(item, v) { return times((this.m.scales[item.vector] || 0) * this.m.reach, v.slice(3, 6)); }

  // Where a label stands: at the middle of a rod, at the tip of an arrow.
  labelPlace(item, v) {
    const at = v.slice(0, 3);
    if (item.kind === "Rod" || item.kind === "Spring") return times(0.5, add(at, v.slice(3, 6)));
    return item.kind === "Vector" ? add(at, this.arrow(item, v)) : at;
  }

  Vector(item, v) {
    const at = v.slice(0, 3), d = this.arrow(item, v), length = size(d);
    if (!(length > 1.5 * this.m.unit)) return;  // a head without a shaft tells no direction
    const colour = this.colour(item, 0, rgb(this.theme.palette[{velocity: 2, force: 1, reaction: 3}[item.vector] || 0]));
    const head = Math.min(4.5 * this.m.unit, 0.6 * length), along = times(1 / length, d), [x, y] = across(along);
    const neck = add(at, times(length - head, along)), r = 0.4 * head;
    const front = this.m.spatial ? [0, 0, 0] : [0, 0, 3 * this.m.unit];
    this.line(add(at, front), add(neck, front), 0.55, colour);
    this.batch.put("cone", times(r, x), times(r, y), times(head, along), add(neck, front), colour, this.alpha);
  }

  Axes(item, v) {
    const at = v.slice(0, 3), three = axes(v.slice(3, 12)), length = v[12];
    const shown = this.m.spatial ? three : three.slice(0, 2);
    shown.forEach((d, i) => this.line(at, add(at, times(length, d)), 0.8, rgb(this.theme.palette[[1, 2, 0][i]])));
  }

  Trail() {}

  // A path that fades with age; it is cut where it jumps.
  trail(points, colour) {
    for (let i = 1; i < points.length; i++) {
      const jump = sub(points[i], points[i - 1]);
      if (size(jump) < 0.35 * this.m.span) this.line(points[i - 1], points[i], 0.35, colour, 0.08 + 0.7 * i / points.length);
    }
  }
}

// Cells of a ground are fixed to it: a power of two, so that they stay where they are while the picture follows a motion.
const cell = about => 2 ** Math.round(Math.log2(about));

function triples(v) {
  const found = [];
  for (let i = 0; i + 2 < v.length; i += 3) found.push([v[i], v[i + 1], v[i + 2]]);
  return found;
}
const axes = R => [[R[0], R[3], R[6]], [R[1], R[4], R[7]], [R[2], R[5], R[8]]];
function turned(v) { return [v.slice(0, 3), v[3], ...axes(v.slice(4, 13)), v.slice(13)]; }
// From blue through near white to red: the two ends differ for colour-blind people too.
function warmColour(s) {
  const cold = rgb("#2166ac"), mild = rgb("#f4efe6"), hot = rgb("#b2182b");
  return s < 0.5 ? add(cold, times(2 * s, sub(mild, cold))) : add(mild, times(2 * s - 1, sub(hot, mild)));
}
// The places by which the size of a picture is measured.
function placesOf(item, v) {
  switch (item.kind) {
    case "Ground": return [v.slice(0, 3)];
    case "Vector": case "Trail": case "Point": return [v.slice(0, 3)];
    case "Axes": return [v.slice(0, 3), ...axes(v.slice(3, 12)).map(d => add(v.slice(0, 3), times(v[12], d)))];
    case "Disc": case "Wheel": case "Hoop": case "Sphere": {
      const [at, r] = turned(v);
      return [[1, 0, 0], [0, 1, 0], [0, 0, 1]].flatMap(d => [add(at, times(r, d)), sub(at, times(r, d))]);
    }
    case "Box": {
      const at = v.slice(0, 3), r = Math.hypot(v[3], v[4], v[5]) / 2;
      return [[1, 0, 0], [0, 1, 0]].flatMap(d => [add(at, times(r, d)), sub(at, times(r, d))]);
    }
    case "Blade": return [add(v.slice(0, 3), times(v[6] / 2, unit(v.slice(3, 6)))), sub(v.slice(0, 3), times(v[6] / 2, unit(v.slice(3, 6))))];
    case "Gas": {
      const d = unit(sub(v.slice(3, 6), v.slice(0, 3))), n = [-d[1], d[0], 0];
      return [v.slice(0, 3), v.slice(3, 6)].flatMap(p => [add(p, times(v[6] / 2, n)), sub(p, times(v[6] / 2, n))]);
    }
    default: return triples(v);
  }
}
