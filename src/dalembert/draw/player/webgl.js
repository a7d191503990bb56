// A small renderer: ten meshes, drawn in instances, one call for each.

const VERTEX = `#version 300 es
layout(location=0) in vec3 place; layout(location=1) in vec3 normal;
layout(location=2) in vec3 ax; layout(location=3) in vec3 ay; layout(location=4) in vec3 az;
layout(location=5) in vec3 at; layout(location=6) in vec4 colour;
uniform mat4 view; uniform vec3 eye; uniform float flat_;
out vec4 tint; out vec3 facing; out vec3 world;
void main() {
  world = ax * place.x + ay * place.y + az * place.z + at;
  vec3 n = cross(ay, az) * normal.x + cross(az, ax) * normal.y + cross(ax, ay) * normal.z;
  facing = length(n) > 0. ? normalize(n) : vec3(0., 0., 1.);
  tint = colour;
  gl_Position = view * vec4(world, 1.);
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec4 tint; in vec3 facing; in vec3 world; uniform vec3 eye; uniform float flat_; out vec4 seen;
void main() {
  vec3 n = normalize(facing), look = normalize(eye - world);
  if (dot(n, look) < 0.) n = -n;
  float light = 0.45 + 0.4 * max(dot(n, normalize(vec3(0.35, -0.5, 0.8))), 0.) + 0.2 * max(dot(n, look), 0.);
  seen = vec4(tint.rgb * mix(light, 1., flat_), tint.a);
}`;

function roundMesh(rings, sides, place, normal) {
  const v = [];
  const put = (i, j) => { const a = 2 * Math.PI * j / sides; v.push(...place(i / rings, a), ...normal(i / rings, a)); };
  for (let i = 0; i < rings; i++) for (let j = 0; j < sides; j++) {
    put(i, j); put(i + 1, j); put(i + 1, j + 1); put(i, j); put(i + 1, j + 1); put(i, j + 1);
  }
  return v;
}
const cap = (sides, z, up) => roundMesh(1, sides, (s, a) => [s * Math.cos(a), s * Math.sin(a), z], () => [0, 0, up]);
const tube = sides => roundMesh(1, sides, (s, a) => [Math.cos(a), Math.sin(a), s], (s, a) => [Math.cos(a), Math.sin(a), 0]);

const onBall = (s, a) => { const b = Math.PI * s; return [Math.sin(b) * Math.cos(a), Math.sin(b) * Math.sin(a), Math.cos(b)]; };
const round = (rings, sides) => roundMesh(rings, sides, onBall, onBall);

const onHoop = (s, a) => [Math.cos(2 * Math.PI * s), Math.sin(2 * Math.PI * s)].map(c => c * (1 + RING * Math.cos(a))).concat(RING * Math.sin(a));
const awayFromHoop = (s, a) => [Math.cos(2 * Math.PI * s) * Math.cos(a), Math.sin(2 * Math.PI * s) * Math.cos(a), Math.sin(a)];
const hoop = (rings, sides) => roundMesh(rings, sides, onHoop, awayFromHoop);

function meshes() {
  const box = [];
  for (let axis = 0; axis < 3; axis++) for (const side of [-0.5, 0.5]) {
    const corner = (i, j) => { const p = [0, 0, 0]; p[axis] = side; p[(axis + 1) % 3] = i; p[(axis + 2) % 3] = j; return p; };
    const n = [0, 0, 0];
    n[axis] = 2 * side;
    const [a, b, c, d] = [corner(-0.5, -0.5), corner(0.5, -0.5), corner(0.5, 0.5), corner(-0.5, 0.5)];
    for (const p of [a, b, c, a, c, d]) box.push(...p, ...n);
  }
  return {
    box, bar: [...tube(8), ...cap(8, 0, -1), ...cap(8, 1, 1)], disc: [...tube(40), ...cap(40, 0, -1), ...cap(40, 1, 1)],
    wire: tube(4), ball: round(12, 20), bead: round(7, 12), globe: round(32, 56),
    ring: hoop(16, 3),
    cone: [...roundMesh(1, 16, (s, a) => [(1 - s) * Math.cos(a), (1 - s) * Math.sin(a), s], (s, a) => [Math.cos(a), Math.sin(a), 0.4]), ...cap(16, 0, -1)],
    tri: [0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1],
  };
}

class WebGLPainter {
  constructor(canvas) {
    const gl = this.gl = canvas.getContext("webgl2", {antialias: true, alpha: true, preserveDrawingBuffer: true});
    if (!gl) throw new Error("no WebGL");
    this.canvas = canvas;
    this.kind = "WebGL";
    const program = this.program = gl.createProgram();
    for (const [type, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    this.where = name => gl.getUniformLocation(program, name);
    this.parts = {};
    for (const [name, vertices] of Object.entries(meshes())) this.parts[name] = this.part(vertices);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  part(vertices) {
    const gl = this.gl, array = gl.createVertexArray(), instances = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(vertices), gl.STATIC_DRAW);
    for (const i of [0, 1]) { gl.enableVertexAttribArray(i); gl.vertexAttribPointer(i, 3, gl.FLOAT, false, 24, 12 * i); }
    gl.bindBuffer(gl.ARRAY_BUFFER, instances);
    for (let i = 0; i < 5; i++) {
      gl.enableVertexAttribArray(2 + i);
      gl.vertexAttribPointer(2 + i, i < 4 ? 3 : 4, gl.FLOAT, false, 4 * STRIDE, 12 * i);
      gl.vertexAttribDivisor(2 + i, 1);
    }
    return {array, instances, count: vertices.length / 6};
  }

  begin() {
    const gl = this.gl;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  }

  // Draws in a part of the canvas: left edge and width in pixels; what is transparent comes last and hides nothing.
  paint(batch, camera, left, width) {
    const gl = this.gl, height = this.canvas.height;
    gl.viewport(left, 0, width, height);
    gl.useProgram(this.program);
    gl.uniformMatrix4fv(this.where("view"), false, camera.matrix(width / height));
    gl.uniform3fv(this.where("eye"), camera.eye());
    gl.uniform1f(this.where("flat_"), camera.spatial ? 0 : 0.75);
    for (const solid of [true, false]) {
      gl.depthMask(solid);
      for (const mesh of MESHES) {
        const list = batch.lists[mesh], part = this.parts[mesh];
        const [data, n] = chosen(list, solid);
        if (!n) continue;
        gl.bindVertexArray(part.array);
        gl.bindBuffer(gl.ARRAY_BUFFER, part.instances);
        gl.bufferData(gl.ARRAY_BUFFER, data.subarray(0, n * STRIDE), gl.STREAM_DRAW);
        gl.drawArraysInstanced(gl.TRIANGLES, 0, part.count, n);
      }
    }
    gl.depthMask(true);
  }

  free() { const lose = this.gl.getExtension("WEBGL_lose_context"); if (lose) lose.loseContext(); }
}

// The instances of a list that are solid, or those that are not.
function chosen(list, solid) {
  if (!list.clear) return [list.data, solid ? list.n : 0];
  let n = 0;
  const found = new Float32Array(list.n * STRIDE);
  for (let i = 0; i < list.n; i++) {
    const j = i * STRIDE;
    if (list.data[j + 15] > 0.99 !== solid) continue;
    for (let k = 0; k < STRIDE; k++) found[n * STRIDE + k] = list.data[j + k];
    n++;
  }
  return [found, n];
}
