// Curves against time, one strip for each chosen quantity, with a line at the present.

const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

class Graph {
  constructor(canvas, data, words) {
    this.canvas = canvas;
    this.data = data;
    this.words = words;
    this.range = null;
    this.made = 0;
    this.still = document.createElement("canvas");
  }

  // The curves are drawn once, and copied for each frame: only the line at the present moves.
  draw(runs, chosen, now, theme) {
    const ratio = window.devicePixelRatio || 1, strip = 104, width = this.canvas.clientWidth, height = Math.max(1, chosen.length) * strip + 22;
    const asked = [runs, theme, ratio, width, chosen.join()];
    if (!this.asked || asked.some((a, i) => a !== this.asked[i])) {
      this.asked = asked;
      this.canvas.style.height = `${height}px`;
      for (const c of [this.canvas, this.still]) { c.width = Math.round(width * ratio); c.height = Math.round(height * ratio); }
      this.curves(runs, chosen, theme, ratio, strip, width, height);
      this.made++;
    }
    const c = this.canvas.getContext("2d"), {left, right, t0, t1} = this.range, x = left + (t1 > t0 ? (now - t0) / (t1 - t0) : 0) * (right - left);
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (this.still.width && this.still.height) c.drawImage(this.still, 0, 0);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.strokeStyle = theme.ink;
    c.lineWidth = 1;
    c.beginPath(); c.moveTo(x, 6); c.lineTo(x, height - 20); c.stroke();
  }

  curves(runs, chosen, theme, ratio, strip, width, height) {
    const c = this.still.getContext("2d"), left = 58, right = width - 10, [t0, t1] = spanOf(runs);
    const x = t => left + (t1 > t0 ? (t - t0) / (t1 - t0) : 0) * (right - left);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.font = "12px system-ui, sans-serif";
    this.range = {left, right, t0, t1};
    chosen.forEach((k, i) => this.strip(c, runs, k, 18 + i * strip, strip - 26, x, left, right, theme));
    c.fillStyle = theme.faint;
    c.textAlign = "left"; c.fillText(short(t0), left, height - 6);
    c.textAlign = "right"; c.fillText(`t = ${short(t1)}`, right, height - 6);
  }

  strip(c, runs, k, top, height, x, left, right, theme) {
    let low = Infinity, high = -Infinity;
    for (const run of runs) for (const lane of run.lanes) for (let i = 0; i < lane.count; i++) {
      const v = lane.stored[k][i];
      if (v < low) low = v;
      if (v > high) high = v;
    }
    if (!(high > low)) { const w = Math.abs(low) || 1; low -= 0.1 * w; high += 0.1 * w; }
    const y = v => top + height - (v - low) / (high - low) * height;
    c.strokeStyle = theme.grid;
    c.lineWidth = 1;
    c.strokeRect(left, top, right - left, height);
    c.fillStyle = theme.faint;
    c.textAlign = "right";
    c.fillText(short(high), left - 6, top + 9);
    c.fillText(short(low), left - 6, top + height);
    c.fillStyle = theme.ink;
    c.textAlign = "left";
    c.fillText(this.data.quantities[k].name, left, top - 5);
    runs.forEach((run, r) => run.lanes.forEach((lane, l) => {
      c.strokeStyle = theme.palette[r % PALETTE.length];
      c.globalAlpha = l === 0 ? 1 : 0.35;
      c.lineWidth = 1.5;
      c.setLineDash(DASHES[r % DASHES.length]);
      c.beginPath();
      const step = Math.max(1, Math.floor(lane.count / 2400));
      for (let i = 0; i < lane.count; i += step) c.lineTo(x(run.time[i]), y(lane.stored[k][i]));
      c.stroke();
      c.setLineDash([]);
      c.globalAlpha = 1;
    }));
  }
}

function spanOf(runs) {
  const ends = runs.flatMap(run => run.lanes.map(lane => run.time[Math.max(lane.count - 1, 0)]));
  return [Math.min(...runs.map(run => run.time[0])), Math.max(...ends)];
}
function short(v) {
  if (v === 0) return "0";
  const size = Math.abs(v);
  return size >= 1e4 || size < 1e-2 ? v.toExponential(1) : String(+v.toPrecision(3));
}
// A time, with as many digits as tell apart a two-hundredth of the whole.
function clockText(t, a, b) {
  const largest = Math.max(Math.abs(a), Math.abs(b)), step = (b - a) / 200;
  if (!(step > 0) || (t === 0 && largest < 0.1)) return short(t);
  if (largest >= 0.1 && largest < 1e5) return t.toFixed(Math.min(Math.max(Math.ceil(-Math.log10(step)), 0), 20));
  return t.toExponential(Math.min(Math.ceil(Math.log10(largest / step)), 20));
}
