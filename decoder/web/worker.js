// SPDX-License-Identifier: BSD-3-Clause
// Decodes beside the page, so that it stays alive: coarse levels first, then everything.
//
// The page sends {open: bytes} and {slice: {id, axes, index, level}}; back come {info}, {level, complete, done} whenever
// finer values are there, {slice}, and {error}. All carry the number of the stream they are about.
"use strict";

// A larger array is not kept whole: its slices are decoded when they are asked for.
const MOST_KEPT = 2 ** 30; // bytes
// A step of decoding should not keep slices waiting for long.
const STEP = 2 ** 22; // values

let ready, leeway, stream; // the module to come, the module, what it reads
let volumes = []; // by level: {pointer, shape}
let opened = 0; // the number of the stream: work for an earlier one ends

const product = (numbers) => numbers.reduce((a, b) => a * b, 1);
const say = (message, transferred = []) => postMessage({ ...message, number: opened }, transferred);
const pause = () => new Promise((resolve) => setTimeout(resolve, 0));

// An index of the array as one of what a level has of it: every chunk is thinned out by itself.
function indexAt(level, i, axis) {
  const chunk = stream.info.chunk[axis], thin = Math.ceil(chunk / 2 ** level);
  return Math.floor(i / chunk) * thin + Math.floor((i % chunk) / 2 ** level);
}

function forget() {
  for (const volume of volumes) if (volume) leeway.exports.release(volume.pointer);
  volumes = [];
  stream?.close();
  stream = undefined;
}

// Memory that decode(pointer) fills, to be kept as what there is of a level.
async function keep(level, shape, decode) {
  const pointer = leeway.allocate(product(shape) * stream.info.valueBytes);
  try {
    if ((await decode(pointer)) !== false) return (volumes[level] = { pointer, shape });
  } catch (error) {
    leeway.exports.release(pointer);
    throw error;
  }
  leeway.exports.release(pointer);
}

const isKept = () => stream.info.bytes <= MOST_KEPT;

async function open(bytes, number) {
  opened = number;
  forget();
  stream = leeway.open(new Uint8Array(bytes));
  const { info } = stream;
  say({ info });
  for (let level = info.levels; level > 0; --level) {
    const shape = stream.levelShape(level);
    if (product(shape) * info.valueBytes > MOST_KEPT) continue;
    await keep(level, shape, (pointer) => stream.decodeLevelAt(level, pointer));
    say({ level, complete: true, done: 0 });
    await pause();
    if (number !== opened) return;
  }
  if (!isKept()) return say({ level: 0, complete: true, done: 1 });
  const whole = await keep(0, info.shape, (pointer) => decodeAll(number, pointer));
  if (!whole) return;
  const half = (high) => leeway.exports.hash(whole.pointer, info.bytes, high).toString(16).padStart(8, "0");
  say({ level: 0, complete: true, done: 1, hash: half(1) + half(0) });
}

// Slab by slab along the slowest axis, whole chunks at a time. Says false if another stream has come.
async function decodeAll(number, pointer) {
  const { info } = stream, { shape } = info;
  const plane = product(shape.slice(1)), rows = shape[0] ?? 1, chunkRows = info.chunk[0] ?? 1;
  const thick = Math.max(1, Math.floor(STEP / Math.max(1, plane * chunkRows))) * chunkRows;
  for (let first = 0; first < rows; first += thick) {
    const count = Math.min(thick, rows - first), rest = shape.slice(1);
    const [begin, extents] = shape.length ? [[first, ...rest.map(() => 0)], [count, ...rest]] : [[], []];
    stream.decodeBoxAt(begin, extents, pointer + first * plane * info.valueBytes);
    say({ level: 0, complete: false, done: (first + count) / rows });
    await pause();
    if (number !== opened) return false;
  }
}

// Values of a plane as numbers: `axes` are its vertical and horizontal one, -1 for none.
function slice({ id, axes, index, level }) {
  const best = level === 0 && !isKept() ? -1 : volumes.findIndex((volume, k) => volume && k >= level);
  const found = best < 0 ? 0 : best, { info } = stream;
  const shape = best < 0 ? index.map((_, k) => (axes.includes(k) ? info.shape[k] : 1)) : volumes[best].shape;
  const place = index.map((i, k) => (axes.includes(k) || best < 0 ? 0 : indexAt(found, i, k)));
  let pointer = volumes[best]?.pointer;
  if (best < 0) {
    pointer = leeway.allocate(product(shape) * info.valueBytes);
    stream.decodeBoxAt(index.map((i, k) => (axes.includes(k) ? 0 : i)), shape, pointer);
  }
  const strides = shape.map((_, k) => product(shape.slice(k + 1)));
  const first = place.reduce((sum, i, k) => sum + i * strides[k], 0);
  const [rows, columns] = axes.map((axis) => shape[axis] ?? 1), [rowStep, step] = axes.map((axis) => strides[axis] ?? 0);
  const numbers = leeway.allocate(rows * columns * 8);
  leeway.exports.numbers(info.dtypeNumber, pointer, first, rows, rowStep, columns, step, numbers);
  const values = new Float64Array(leeway.exports.memory.buffer, numbers, rows * columns).slice();
  leeway.exports.release(numbers);
  if (best < 0) leeway.exports.release(pointer);
  say({ slice: { id, axes, index, level: found, rows, columns, values } }, [values.buffer]);
}

onmessage = async ({ data }) => {
  try {
    if (data.wasm) ready = Leeway.load(data.wasm);
    leeway = await ready;
    if (data.open) await open(data.open, data.number);
    if (data.slice && data.number === opened && stream) slice(data.slice);
  } catch (error) {
    say({ error: error.message });
  }
};
