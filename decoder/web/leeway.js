// SPDX-License-Identifier: BSD-3-Clause
// Leeway streams in JavaScript: decoder/leeway_decode.h as WebAssembly (leeway.wasm).
//
//   const leeway = await Leeway.load(bytesOfTheModule);
//   const stream = leeway.open(bytes);          // throws an Error that says what is wrong
//   stream.info.shape                           // what the stream states
//   stream.decode()                             // a typed array, row-major
//   stream.decodeBox([0, 10], [5, 20])          // a part of it
//   stream.decodeLevel(2)                       // {shape, values}: every fourth value along each axis
//   stream.close();
"use strict";

const LEEWAY_FACTS = [
  "dtype", "rank", "chunks", "values", "bytes", "valueBytes", "isBrief", "levels", "boundCount", "absBound", "min", "max",
  "maxError", "special", "exact", "streamBytes", "fillCount",
];
// f16 and bf16 come as their bits.
const LEEWAY_ARRAYS = {
  f32: Float32Array, f64: Float64Array, f16: Uint16Array, bf16: Uint16Array, i8: Int8Array, i16: Int16Array, i32: Int32Array,
  i64: BigInt64Array, u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, u64: BigUint64Array,
};

class Leeway {
  static async load(bytes) {
    const { instance } = await WebAssembly.instantiate(bytes, {});
    instance.exports._initialize?.();
    return new Leeway(instance.exports);
  }
  constructor(exports) {
    this.exports = exports;
  }
  open(bytes) {
    return new LeewayStream(this, bytes);
  }

  // The memory moves when it grows: nobody keeps views of it.
  bytesAt(pointer, size) {
    return new Uint8Array(this.exports.memory.buffer, pointer, size);
  }
  allocate(size) {
    const pointer = this.exports.allocate(Math.max(size, 1));
    if (pointer === 0) throw new Error("not enough memory for " + size + " bytes");
    return pointer;
  }
  textAt(pointer) {
    const memory = new Uint8Array(this.exports.memory.buffer);
    return new TextDecoder().decode(memory.subarray(pointer, memory.indexOf(0, pointer)));
  }
}

class LeewayStream {
  constructor(leeway, bytes) {
    this.leeway = leeway;
    const { exports } = leeway;
    this.bytes = leeway.allocate(bytes.length);
    leeway.bytesAt(this.bytes, bytes.length).set(bytes);
    this.indices = leeway.allocate(16 * 8); // room for a first index and extents
    this.stream = exports.open(this.bytes, bytes.length);
    if (this.stream === 0) throw new Error("not enough memory");
    const message = exports.status(this.stream) ? leeway.textAt(exports.message(this.stream)) : "";
    if (message) {
      this.close();
      throw new Error(message);
    }
    this.info = this.readInfo();
  }

  readInfo() {
    const { exports } = this.leeway, { stream } = this;
    const info = Object.fromEntries(LEEWAY_FACTS.map((name, i) => [name, exports.fact(stream, i)]));
    const each = (count, get) => Array.from({ length: count }, (_, i) => get(i));
    info.dtypeNumber = info.dtype;
    info.dtype = this.leeway.textAt(exports.dtype_name(info.dtype));
    info.recipe = this.leeway.textAt(exports.recipe(stream));
    info.shape = each(info.rank, (k) => exports.extent(stream, k));
    info.chunk = each(info.rank, (k) => exports.chunk_extent(stream, k));
    info.fills = each(info.fillCount, (i) => exports.fill(stream, i));
    info.bounds = each(info.boundCount, (i) => ({
      kind: this.leeway.textAt(exports.bound_name(exports.bound_kind(stream, i))),
      value: exports.bound_value(stream, i),
    }));
    return info;
  }

  levelShape(level) {
    this.leeway.exports.level_shape(this.stream, level, this.indices);
    const view = new BigUint64Array(this.leeway.exports.memory.buffer, this.indices, this.info.rank);
    return Array.from(view, Number);
  }

  check(status) {
    if (status !== 0) throw new Error(this.leeway.textAt(this.leeway.exports.message(this.stream)));
  }

  // Into memory of the module that the caller has allocated.
  decodeBoxAt(first, extents, pointer) {
    const view = new BigUint64Array(this.leeway.exports.memory.buffer, this.indices, 16);
    first.forEach((n, k) => (view[k] = BigInt(n)));
    extents.forEach((n, k) => (view[8 + k] = BigInt(n)));
    const bytes = extents.reduce((a, b) => a * b, this.info.valueBytes);
    this.check(this.leeway.exports.decode_box(this.stream, this.indices, this.indices + 64, pointer, bytes));
  }
  decodeLevelAt(level, pointer) {
    const bytes = this.levelShape(level).reduce((a, b) => a * b, this.info.valueBytes);
    this.check(this.leeway.exports.decode_level(this.stream, level, pointer, bytes));
  }

  // A typed array of what decode(pointer) leaves in `count` values.
  typed(count, decode) {
    const pointer = this.leeway.allocate(count * this.info.valueBytes);
    try {
      decode(pointer);
      return new LEEWAY_ARRAYS[this.info.dtype](this.leeway.exports.memory.buffer, pointer, count).slice();
    } finally {
      this.leeway.exports.release(pointer);
    }
  }
  decodeBox(first, extents) {
    return this.typed(extents.reduce((a, b) => a * b, 1), (pointer) => this.decodeBoxAt(first, extents, pointer));
  }
  decodeLevel(level) {
    const shape = this.levelShape(level);
    return { shape, values: this.typed(shape.reduce((a, b) => a * b, 1), (pointer) => this.decodeLevelAt(level, pointer)) };
  }
  decode() {
    return this.decodeLevel(0).values;
  }

  close() {
    const { exports } = this.leeway;
    if (this.stream) exports.close(this.stream);
    exports.release(this.indices);
    exports.release(this.bytes);
    this.stream = 0;
  }
}

if (typeof module !== "undefined") module.exports = { Leeway, LeewayStream };
