// A body is taken with the mouse: its place at the start is moved, and the motion is computed anew.

// w with (J J' + mu) w = r, J having these columns: J' w is the smallest step that leads near r.
function damped(columns, r) {
  const rows = [0, 1, 2].map(i => [0, 1, 2].map(j => columns.reduce((sum, c) => sum + c[i] * c[j], 0)));
  const mu = 1e-4 * (rows[0][0] + rows[1][1] + rows[2][2]) || 1;
  rows.forEach((row, i) => { row[i] += mu; });
  const [a, b, c] = rows, whole = dot(a, cross(b, c));
  return times(1 / whole, add(times(r[0], cross(b, c)), add(times(r[1], cross(c, a)), times(r[2], cross(a, b)))));
}

class Grip {
  constructor(player) { this.player = player; }

  // The numbers of the scene at the start that is asked for.
  startOf(asked) {
    const {data, tape, live} = this.player, t = live.told, input = new Float64Array(tape.names.length);
    tape.names.forEach((name, i) => {
      const places = [[t.q, asked.q], [t.v, asked.v], [t.S, asked.S], [t.multipliers, asked.m], [data.parameters, asked.parameters]];
      const held = places.find(([names]) => names.includes(name));
      input[i] = name === "t" ? asked.t : held ? held[1][held[0].indexOf(name)] : 0;
    });
    return tape.run(input);
  }

  placeOf(item, asked) { return valuesOf(item, this.startOf(asked)).slice(0, 3); }

  // How the place of an item moves with each coordinate that has a slider, by lengths of the slider.
  slopes(item, asked) {
    const free = this.player.data.live.sliders.filter(s => s.kind === "q"), at = this.placeOf(item, asked);
    return free.map(({index, low, high}) => {
      const q = [...asked.q], length = high - low;
      q[index] += 1e-6 * length;
      return {index, length, slope: times(1e6, sub(this.placeOf(item, {...asked, q}), at))};
    });
  }

  // Take what is nearest to the pointer at the start, if it can be moved.
  take(x, y) {
    const p = this.player, {width, height} = p.view.getBoundingClientRect(), asked = p.asked;
    let best = 22;
    this.item = null;
    if (!p.live || p.runs.length > 1) return false;
    for (const item of p.data.items) {
      if (!["Point", "Disc", "Wheel", "Box", "Sphere", "Blade"].includes(item.kind)) continue;
      const at = valuesOf(item, p.reader.at(p.runs[0], p.runs[0].lanes[0], p.now)).slice(0, 3), [u, v] = p.camera.onto(at, 0, width, height);
      const d = Math.hypot(u - x, v - y);
      if (d < best && this.slopes(item, asked).some(s => size(s.slope) > 1e-6 * p.measures.reach)) { best = d; this.item = item; }
    }
    if (!this.item) return false;
    p.setPlaying(false);
    p.now = p.span[0];
    this.goal = this.placeOf(this.item, asked);
    return true;
  }

  // Move it by pixels in the plane of the picture: damped least squares for the coordinates (K. Levenberg, 1944).
  move(dx, dy) {
    const p = this.player, k = 2 * p.camera.size * p.camera.half(p.view.clientWidth / p.view.clientHeight) / p.view.clientHeight, [x, y] = p.camera.axes();
    this.goal = add(this.goal, add(times(dx * k, x), times(-dy * k, y)));
    for (let i = 0; i < 12; i++) {
      const lacking = sub(this.goal, this.placeOf(this.item, p.asked)), columns = this.slopes(this.item, p.asked);
      const along = damped(columns.map(c => c.slope), lacking);
      for (const c of columns) p.asked.q[c.index] += c.length * dot(c.slope, along);
    }
    p.showAsked();
    p.recompute();
  }
}
