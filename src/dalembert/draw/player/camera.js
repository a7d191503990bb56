// The camera: in the plane straight from above, in space around a middle point.
//
// It computes in lengths of the picture, whose middle is 0 and half of whose height is 1, so that the unit of the system does
// not matter: WebGL has numbers of 32 bits.

const WIDE = 1.25;  // Width by height of a picture in the plane that motions are fitted into.

const AWAY = 3.2;  // Distance of the eye, in halves of the height.
const INSIDE = 0.95;  // What must be seen stays within this part of the picture.

class Camera {
  constructor(spatial, middle, reach) {
    this.spatial = spatial;
    this.angles = {azimuth: -0.9, height: 0.42};
    this.aim(middle, reach);
    this.reset();
  }
  // What the picture is about: its middle and half its height; the user moves and magnifies from there.
  aim(middle, reach) { this.target = middle.slice(); this.size = reach; }
  reset() { Object.assign(this, this.angles, {factor: 1, shift: [0, 0, 0]}); }
  get reach() { return this.factor; }
  get middle() { return this.shift; }
  inside(p) { return times(1 / this.size, sub(p, this.target)); }

  back() {
    if (!this.spatial) return [0, 0, 1];
    const c = Math.cos(this.height);
    return [c * Math.cos(this.azimuth), c * Math.sin(this.azimuth), Math.sin(this.height)];
  }
  axes() {
    const z = this.back(), x = unit(cross(this.spatial ? [0, 0, 1] : [0, 1, 0], z));
    return [x, cross(z, x), z];
  }
  get distance() { return AWAY * this.reach; }
  eye() { return add(this.middle, times(this.distance, this.back())); }

  // Half the height of a picture that shows a place, seen from its middle, and an arrow there that is d times as long as that half.
  heightFor(p, d) {
    const [x, y, z] = this.axes(), near = this.spatial ? Math.max(dot(z, p), 0) / AWAY : 0;
    const along = (axis, wide) => {
      const side = dot(axis, p), out = Math.max(Math.sign(side) * dot(axis, d), 0) / (INSIDE * wide);
      return (Math.abs(side) / (INSIDE * wide) + near) / (1 - out);
    };
    return Math.max(along(x, this.spatial ? 1 : WIDE), along(y, 1));
  }

  // Half the height of the picture in the plane of the middle; a narrow picture shows as much sideways as one of these proportions.
  half(aspect) { return this.reach / Math.min(aspect / (this.spatial ? 1 : WIDE), 1); }

  matrix(aspect) {
    const [x, y, z] = this.axes(), e = this.eye(), d = this.distance, h = this.half(aspect), near = d / 50, far = 20 * d;
    const rows = [x, y, z].map(a => [...a, -dot(a, e)]);
    const m = new Float32Array(16);
    for (let j = 0; j < 4; j++) {
      const [a, b, c] = rows.map(r => r[j]), w = j === 3 ? 1 : 0;
      if (this.spatial) {
        m[4 * j] = a * d / (h * aspect);
        m[4 * j + 1] = b * d / h;
        m[4 * j + 2] = -c * (far + near) / (far - near) - w * 2 * far * near / (far - near);
        m[4 * j + 3] = -c;
      } else {
        m[4 * j] = a / (h * aspect);
        m[4 * j + 1] = b / h;
        m[4 * j + 2] = -c * 2 / (far - near) - w * (far + near) / (far - near);
        m[4 * j + 3] = w;
      }
    }
    return m;
  }

  onto(place, left, width, height) {
    const p = this.inside(place), m = this.matrix(width / height), q = [0, 1, 2, 3].map(i => m[i] * p[0] + m[4 + i] * p[1] + m[8 + i] * p[2] + m[12 + i]);
    return [left + (q[0] / q[3] + 1) / 2 * width, (1 - q[1] / q[3]) / 2 * height];
  }
  pixels(r, width, height) { return r * height / (2 * this.half(width / height)); }

  orbit(dx, dy) {
    if (!this.spatial) return;
    this.azimuth -= 0.008 * dx;
    this.height = Math.min(Math.max(this.height + 0.008 * dy, -1.5), 1.5);
  }
  pan(dx, dy, height) {
    const [x, y] = this.axes(), k = 2 * this.reach / height;
    this.shift = add(this.shift, add(times(-dx * k, x), times(dy * k, y)));
  }
  zoom(factor) { this.factor = Math.min(Math.max(this.factor * factor, 0.01), 100); }
}
