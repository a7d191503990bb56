// What a file holds: numbers as text, columns of a motion, and the tape that computes the scene from them.

const FORMAT = "dalembert-player", NEWEST = 2;

function bytesOf(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

// A quantity that is a column of the state is its number. A column is [offset, scale, text]: 32-bit floats of (value - offset)/scale; or [value, 0, ""] where it is constant.
function columnOf([offset, scale, text], count) {
  const values = new Float64Array(count).fill(offset);
  if (!text) return values;
  const held = new Float32Array(bytesOf(text).buffer);
  for (let i = 0; i < count; i++) values[i] = held[i] * scale + offset;
  return values;
}

function readData(data) {
  if (data.format !== FORMAT) throw new Error("this is no file of the dalembert player");
  if (data.version > NEWEST) throw new Error(`the file has version ${data.version}, this player reads up to ${NEWEST}`);
  for (const run of data.runs) {
    const count = run.frames;
    run.time = run.times ? new Float64Array(bytesOf(run.times).buffer)
                         : Float64Array.from({length: count}, (_, i) => run.t0 + run.dt * i);
    for (const lane of run.lanes) {
      lane.values = lane.columns.map(c => columnOf(c, count));
      lane.stored = lane.quantities.map(c => typeof c === "number" ? lane.values[c] : columnOf(c, count));
      lane.count = lane.count === undefined ? count : lane.count;
    }
  }
  return data;
}

const UNARY = {
  sin: Math.sin, cos: Math.cos, tan: Math.tan, asin: Math.asin, acos: Math.acos, atan: Math.atan, sinh: Math.sinh,
  cosh: Math.cosh, tanh: Math.tanh, asinh: Math.asinh, acosh: Math.acosh, atanh: Math.atanh, log: Math.log, exp: Math.exp,
  floor: Math.floor, ceil: Math.ceil, fabs: Math.abs, atan2: Math.atan2, pow: Math.pow,
};
const RELATIONS = {lt: (a, b) => a < b, le: (a, b) => a <= b, eq: (a, b) => a === b, ne: (a, b) => a !== b};

// The tape: operations on numbered values, four entries each: what is done, and up to three earlier values.
class Tape {
  constructor(stored) {
    this.names = stored.names;
    this.operations = stored.operations;
    this.constants = stored.constants.map(c => c === null ? NaN : c);
    this.results = stored.results;
    this.functions = stored.functions.map(f => UNARY[f] || (() => NaN));  // of a quantity the stored values remain
    this.relations = stored.relations.map(r => RELATIONS[r]);
    this.cells = new Float64Array(stored.operations.length / 4);
    this.out = new Float64Array(stored.results.length);
  }

  run(input) {
    const o = this.operations, v = this.cells, n = v.length, F = this.functions, R = this.relations;
    for (let k = 0, j = 0; k < n; k++, j += 4) {
      const a = o[j + 1], b = o[j + 2], c = o[j + 3];
      switch (o[j]) {
        case 0: v[k] = this.constants[a]; break;
        case 1: v[k] = input[a]; break;
        case 2: v[k] = v[a] + v[b]; break;
        case 3: v[k] = v[a] - v[b]; break;
        case 4: v[k] = v[a] * v[b]; break;
        case 5: v[k] = v[a] / v[b]; break;
        case 6: v[k] = -v[a]; break;
        case 7: v[k] = v[a] * v[b] + v[c]; break;
        case 8: v[k] = Math.sqrt(v[a]); break;
        case 9: v[k] = c < 0 ? F[a](v[b]) : F[a](v[b], v[c]); break;
        case 10: v[k] = R[a](v[b], v[c]) ? 1 : 0; break;
        case 11: v[k] = v[a] ? v[b] : v[c]; break;
        case 12: v[k] = v[a] && v[b] ? 1 : 0; break;
        case 13: v[k] = v[a] || v[b] ? 1 : 0; break;
        case 14: v[k] = v[a] ? 0 : 1; break;
        default: v[k] = a;
      }
    }
    for (let i = 0; i < this.results.length; i++) this.out[i] = v[this.results[i]];
    return this.out;
  }
}

// The state of a lane at a time: linear between its frames, and at its last frame where it has ended.
class Reader {
  constructor(data, tape) {
    this.tape = tape;
    this.from = tape.names.map(name => {
      const column = data.columns.indexOf(name);
      return column >= 0 ? ["column", column] : name === "t" ? ["time", 0] : ["parameter", data.parameters.indexOf(name)];
    });
    this.input = new Float64Array(tape.names.length);
  }

  place(run, lane, t) {
    const time = run.time, last = Math.max(lane.count - 1, 0);
    let low = 0, high = last;
    if (!(t < time[last])) return [last, 0];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (time[middle] <= t) low = middle; else high = middle;
    }
    const gap = time[low + 1] - time[low];
    return [low, gap > 0 ? Math.min(Math.max((t - time[low]) / gap, 0), 1) : 0];
  }

  at(run, lane, t) {
    const [k, part] = this.place(run, lane, t);
    for (let i = 0; i < this.from.length; i++) {
      const [kind, index] = this.from[i];
      if (kind === "column") {
        const c = lane.values[index];
        this.input[i] = part ? c[k] + part * (c[k + 1] - c[k]) : c[k];
      } else this.input[i] = kind === "time" ? (part ? t : run.time[k]) : lane.parameters[index];
    }
    return this.tape.run(this.input);
  }
}
