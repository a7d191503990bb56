// Computes a motion in the page: the compiled step of the library, with its Newton's method, as WebAssembly.

const STACK_BASE = 65536;

class Compiled {
  static async load(stored, stack) {
    const made = new Compiled();
    made.stored = stored;
    made.memory = new WebAssembly.Memory({initial: Math.ceil((STACK_BASE + stack) / 65536) + 1});
    made.floor = STACK_BASE + stack;
    made.top = new WebAssembly.Global({value: "i32", mutable: true}, made.floor);
    const env = {__linear_memory: made.memory, __stack_pointer: made.top, ...UNARY};
    const {instance} = await WebAssembly.instantiate(bytesOf(stored.code), {env});
    made.call = instance.exports.call;
    return made;
  }

  // Room for arrays, one after the other, each a number of 8 bytes; views are made when all have their place.
  room(...counts) {
    let at = (this.floor + 63) & ~63;
    const places = counts.map(n => { const p = at; at += 8 * Math.max(n, 1); return p; });
    const lacking = at - this.memory.buffer.byteLength;
    if (lacking > 0) this.memory.grow(Math.ceil(lacking / 65536));
    return places;
  }
  reals(at, n) { return new Float64Array(this.memory.buffer, at, n); }
  wholes(at, n) { return new BigInt64Array(this.memory.buffer, at, n); }
  own(parameters) { return this.stored.parameters.map(i => parameters[i]); }
}

class PointMap {
  constructor(compiled) { this.compiled = compiled; }
  // Rows of inputs -> rows of outputs, and how many rows had none.
  apply(rows, count, parameters) {
    const c = this.compiled, {inputs, outputs} = c.stored, own = c.own(parameters);
    const [a, p, o, s] = c.room(count * inputs, own.length, count * outputs, count);
    c.reals(a, count * inputs).set(rows);
    c.reals(p, own.length).set(own);
    c.reals(o, count * outputs).fill(NaN);
    c.wholes(s, count).fill(0n);
    c.call(a, p, o, s, 0n, BigInt(count), 0n, 0, 1);
    const bad = c.wholes(s, count).reduce((n, code) => n + (code !== 0n), 0);
    return [c.reals(o, count * outputs).slice(), bad];
  }
}

class Live {
  static async load(data) {
    const live = new Live();
    live.data = data;
    live.told = data.live;
    live.methods = [];
    for (const m of live.told.methods) live.methods.push(await Compiled.load(m, live.told.stack));
    live.maps = {};
    for (const [name, m] of Object.entries(live.told.maps)) live.maps[name] = new PointMap(await Compiled.load(m, live.told.stack));
    return live;
  }

  // Position and velocity on the constraints, nearest to those given.
  admissible(q, v, S, M, t, parameters) {
    if (!this.maps.admissible) return [q, v];
    const [out, bad] = this.maps.admissible.apply([...q, ...v, ...S, ...M, t], 1, parameters);
    if (bad) throw new Error(this.told.sentences.start);
    return [[...out.slice(0, q.length)], [...out.slice(q.length)]];
  }

  // M are multipliers that are part of the state; those of reactions follow from the equations of motion.
  firstCarry(method, q, v, S, M, t, parameters) {
    const m = method.stored, held = {q, v, S, p: v, m: M};
    if (m.state.some(([kind]) => kind === "p")) held.p = [...this.maps.momenta.apply([...q, ...v, ...S, ...M, t], 1, parameters)[0]];
    if (!this.told.carried && m.state.some(([kind]) => kind === "m")) held.m = [...this.maps.motion.apply([...q, ...v, ...S, t], 1, parameters)[0]].slice(v.length);
    const carry = new Float64Array(m.carry), n = m.sought.length;
    m.state.forEach(([kind, i], k) => { carry[k] = held[kind][i]; });
    let first = m.state.length + m.summed;
    if (n && m.seeded) {
      for (let s = 0; s < m.substeps; s++, first += m.history * n) m.sought.forEach((i, j) => { carry[first + j] = i < 0 ? 0 : v[i]; });
      carry[m.carry - 1] = 1;
    }
    return carry;
  }

  // The motion from a start: {method, parameters, q, v, S, m, t, h, steps, every}.
  motion(asked) {
    const method = this.methods[asked.method], m = method.stored, t = this.told;
    const M = asked.m || [], [q, v] = this.admissible(asked.q, asked.v, asked.S, M, asked.t, asked.parameters);
    const every = asked.every || Math.max(1, Math.ceil(asked.steps / 3000)), steps = Math.floor(asked.steps / every) * every;
    const rows = steps / every + 1, own = method.own(asked.parameters);
    const carry = this.firstCarry(method, q, v, asked.S, M, asked.t, asked.parameters);
    const [c, p, o, s, r] = method.room(m.carry, own.length, rows * m.width, 4, 1);
    method.reals(c, m.carry).set(carry);
    method.reals(p, own.length).set(own);
    method.reals(o, rows * m.width).fill(NaN);
    method.wholes(s, 4).fill(0n);
    method.call(c, p, o, s, r, 0n, 1n, BigInt(own.length), 0n, BigInt(steps), BigInt(every), 1n, 0n, BigInt(rows),
      asked.t, asked.h, t.tolerance, t.nearly, BigInt(t.most));
    const [code, last] = method.wholes(s, 4);
    const records = method.reals(o, rows * m.width).slice();
    const count = code === 0n ? rows : Math.floor(Number(last) / every) + 1;
    return this.asRun(asked, m, records, rows, count, Number(code), every);
  }

  asRun(asked, m, records, rows, count, code, every) {
    const t = this.told, time = Float64Array.from({length: rows}, (_, i) => asked.t + asked.h * every * i);
    const held = {};
    m.state.forEach(([kind, i], k) => { held[`${kind}${i}`] = Float64Array.from({length: rows}, (_, r) => records[r * m.width + k]); });
    const columnsOf = (kind, n) => Array.from({length: n}, (_, i) => held[`${kind}${i}`]);
    const q = columnsOf("q", t.q.length), S = columnsOf("S", t.S.length);
    let v = columnsOf("v", t.v.length);
    if (t.v.length && !v[0]) v = this.table(this.maps[m.velocities], [...q, ...columnsOf("p", t.v.length), ...S, time], rows, asked.parameters);
    const named = {};
    for (const [names, columns] of [[t.q, q], [t.v, v], [t.S, S]]) names.forEach((name, i) => { named[name] = columns[i]; });
    if (t.carried) {
      const p = columnsOf("p", t.v.length), M = this.maps.carried && p[0] ? this.table(this.maps.carried, [...q, ...v, ...S, ...p, time], rows, asked.parameters)
                                                                        : columnsOf("m", t.multipliers.length);
      t.multipliers.forEach((name, i) => { named[name] = M[i]; });
    } else if (this.maps.motion) {
      const found = this.table(this.maps.motion, [...q, ...v, ...S, time], rows, asked.parameters);
      t.multipliers.forEach((name, i) => { named[name] = found[t.v.length + i]; });
    }
    const lane = {parameters: asked.parameters, values: this.data.columns.map(name => named[name]), count: Math.max(count, 1)};
    const run = {label: m.label, h: asked.h, frames: rows, time, lanes: [lane], code, records, live: true};
    lane.stored = this.quantities(run, lane);
    return run;
  }

  table(map, columns, rows, parameters) {
    const n = columns.length, inputs = new Float64Array(n * rows), outputs = map.compiled.stored.outputs;
    columns.forEach((c, j) => { for (let i = 0; i < rows; i++) inputs[i * n + j] = c[i]; });
    const [out] = map.apply(inputs, rows, parameters);
    return Array.from({length: outputs}, (_, j) => Float64Array.from({length: rows}, (_, i) => out[i * outputs + j]));
  }

  // The quantities of the graphs, from the tape; that of the energy is its change since the start.
  quantities(run, lane) {
    const tape = new Tape(this.data.tape), reader = new Reader(this.data, tape), found = this.data.quantities.map(() => new Float64Array(run.frames));
    for (let i = 0; i < run.frames; i++) {
      const values = reader.at(run, lane, run.time[i]);
      this.data.quantities.forEach((d, k) => { found[k][i] = values[d.result]; });
    }
    this.data.quantities.forEach((d, k) => { if (d.change) { const first = found[k][0]; for (let i = 0; i < run.frames; i++) found[k][i] -= first; } });
    return found;
  }
}
