// The same instances on a canvas without WebGL: outlines from far to near.

class CanvasPainter {
  constructor(canvas) { this.canvas = canvas; this.kind = "canvas"; this.context = canvas.getContext("2d"); }
  begin() { this.context.clearRect(0, 0, this.canvas.width, this.canvas.height); }

  paint(batch, camera, left, width) {
    const c = this.context, height = this.canvas.height, matrix = camera.matrix(width / height), drawn = [];
    const onto = p => {
      const q = [0, 1, 2, 3].map(i => matrix[i] * p[0] + matrix[4 + i] * p[1] + matrix[8 + i] * p[2] + matrix[12 + i]);
      return [left + (q[0] / q[3] + 1) / 2 * width, (1 - q[1] / q[3]) / 2 * height, q[2] / q[3]];
    };
    for (const mesh of MESHES) {
      const {data, n} = batch.lists[mesh];
      for (let i = 0; i < n; i++) {
        const s = data.subarray(i * STRIDE, (i + 1) * STRIDE), x = [...s.slice(0, 3)], y = [...s.slice(3, 6)], z = [...s.slice(6, 9)];
        const at = [...s.slice(9, 12)], place = (a, b, k) => onto(add(at, add(times(a, x), add(times(b, y), times(k, z)))));
        drawn.push({mesh, depth: place(0, 0, mesh === "bar" || mesh === "wire" ? 0.5 : 0)[2], place, at: onto(at), r: size(x),
          colour: `rgba(${[12, 13, 14].map(k => Math.round(255 * s[k])).join()},${s[15]})`});
      }
    }
    drawn.sort((a, b) => b.depth - a.depth);
    c.save();
    c.beginPath();
    c.rect(left, 0, width, height);
    c.clip();
    for (const d of drawn) this.one(c, d, r => camera.pixels(r, width, height));
    c.restore();
  }

  one(c, d, pixels) {
    c.fillStyle = c.strokeStyle = d.colour;
    if (d.mesh === "bar" || d.mesh === "wire") {
      const [a, b] = [d.place(0, 0, 0), d.place(0, 0, 1)];
      c.lineWidth = Math.max(2 * pixels(d.r), 1);
      c.lineCap = "round";
      c.beginPath(); c.moveTo(a[0], a[1]); c.lineTo(b[0], b[1]); c.stroke();
      return;
    }
    if (["ball", "bead", "globe"].includes(d.mesh)) { c.beginPath(); c.arc(d.at[0], d.at[1], Math.max(pixels(d.r), 1), 0, 7); c.fill(); return; }
    if (d.mesh === "ring") {  // the half in front of its middle
      c.lineWidth = Math.max(2 * RING * pixels(d.r), 1);
      for (let i = 0; i < 24; i++) {
        const [a, b] = [i, i + 1].map(k => d.place(Math.cos(Math.PI * k / 12), Math.sin(Math.PI * k / 12), 0));
        if (a[2] + b[2] <= 2 * d.at[2]) { c.beginPath(); c.moveTo(a[0], a[1]); c.lineTo(b[0], b[1]); c.stroke(); }
      }
      return;
    }
    const around = (n, z) => Array.from({length: n}, (_, i) => d.place(Math.cos(2 * Math.PI * i / n), Math.sin(2 * Math.PI * i / n), z));
    const ends = [-0.5, 0.5];
    const points = {
      disc: () => [...around(32, 0), ...around(32, 1)], cone: () => [...around(12, 0), d.place(0, 0, 1)],
      tri: () => [d.place(0, 0, 0), d.place(1, 0, 0), d.place(0, 1, 0)],
      box: () => ends.flatMap(i => ends.flatMap(j => ends.map(k => d.place(i, j, k)))),
    }[d.mesh]();
    c.beginPath();
    hull(points).forEach((p, i) => i ? c.lineTo(p[0], p[1]) : c.moveTo(p[0], p[1]));
    c.fill();
  }
  free() {}
}

// The convex hull of points in the plane (A. M. Andrew, 1979).
function hull(points) {
  const sorted = points.slice().sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const half = list => {
    const found = [];
    for (const p of list) {
      while (found.length > 1 && turn(found[found.length - 2], found[found.length - 1], p) <= 0) found.pop();
      found.push(p);
    }
    return found.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}
