#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A second decoder of leeway streams, written from docs/FORMAT.md and the stages' pages alone.

Plain and slow. Usage: reference_decoder.py STREAM.lwy OUT.raw
"""
import struct
import sys
from itertools import product

import numpy as np
import xxhash
import zstandard

DTYPES = {1: "f32", 2: "f64", 3: "f16", 4: "bf16", 5: "i8", 6: "i16", 7: "i32", 8: "i64", 9: "u8", 10: "u16", 11: "u32", 12: "u64"}
BYTES = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u16": 2, "u32": 4, "u64": 8}
FLOATS = ("f32", "f64", "f16", "bf16")
DEFAULTS = {"lorenzo": {"order": 1, "axes": 8}, "blocks": {"axes": 1, "size": 32}, "zstd": {}, "linear": {}, "exact": {}, "huffman": {},
            "pack": {}, "fixed": {"block": 32, "outlier": 1, "head": 1}, "raw": {}, "store": {}}
PREDICTORS, QUANTIZERS = {"lorenzo", "blocks"}, {"linear", "exact"}
ENCODERS, LOSSLESS = {"huffman", "pack", "fixed", "raw"}, {"zstd", "store"}


class Corrupt(Exception):
    pass


def require(condition, what):
    if not condition:
        raise Corrupt(what)


def hash_of(data):
    return xxhash.xxh3_64_intdigest(bytes(data))


class Reader:
    def __init__(self, data):
        self.data, self.at = memoryview(data), 0

    def take(self, count):
        require(count <= len(self.data) - self.at, "ends too early")
        self.at += count
        return self.data[self.at - count : self.at]

    def get(self, kind):
        return struct.unpack("<" + kind, self.take(struct.calcsize("<" + kind)))[0]

    def varint(self):
        value = 0
        for shift in range(0, 70, 7):
            byte = self.get("B")
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                require(value < 1 << 64, "number too large")
                return value
        raise Corrupt("number too long")

    def rest(self):
        return self.take(len(self.data) - self.at)

    def section(self):
        return Reader(self.take(self.varint()))

    def expect_end(self):
        require(self.at == len(self.data), "bytes left over")


# ---- element types: values are kept as their bits, Python integers -------------------------------------------------


def to_number(bits, dtype):
    """The number a bit pattern stands for: a Python float or int."""
    if dtype == "f64":
        return struct.unpack("<d", struct.pack("<Q", bits))[0]
    if dtype == "f32":
        return struct.unpack("<f", struct.pack("<I", bits))[0]
    if dtype == "f16":
        return float(np.uint16(bits).view(np.float16))
    if dtype == "bf16":
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    width = 8 * BYTES[dtype]
    return bits - (1 << width) if dtype[0] == "i" and bits >> (width - 1) else bits


def to_bits(value, dtype):
    """Rounds a float to the type (f16 and bf16 by way of f32), or wraps an integer."""
    if dtype not in FLOATS:
        return value & ((1 << 8 * BYTES[dtype]) - 1)
    if dtype == "f64":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    with np.errstate(all="ignore"):
        single = np.float32(value)
        if dtype == "f32":
            return int(single.view(np.uint32))
        if dtype == "f16":
            return int(np.float16(single).view(np.uint16))
    b = int(single.view(np.uint32))
    if b & 0x7FFFFFFF > 0x7F800000:
        return b >> 16 | 0x40
    return (b + 0x7FFF + (b >> 16 & 1)) >> 16 & 0xFFFF


def signed(value, width):
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


# ---- stages --------------------------------------------------------------------------------------------------------


def read_patches(reader, dtype, size):
    """Yields (first, count, bits)."""
    patches, runs = [], reader.varint()
    if runs:
        width = BYTES[dtype]
        value = lambda: int.from_bytes(reader.take(width), "little")
        entries = reader.get("B")
        require(entries <= 16, "palette too large")
        palette, position = [value() for _ in range(entries)], 0
        for _ in range(runs):
            position += reader.varint()
            count, entry = reader.varint() + 1, reader.get("B")
            require(entry <= entries and position + count <= size, "patch outside")
            patches.append((position, count, palette[entry] if entry < entries else value()))
            position += count
    reader.expect_end()
    return patches


def apply_patches(patches, values):
    for first, count, bits in patches:
        values[first : first + count] = [bits] * count


def zstd(data):
    reader = Reader(data)
    method = reader.get("B")
    if method == 0:
        return bytes(reader.rest())
    require(method == 1, "unknown method")
    size = reader.varint()
    content = zstandard.ZstdDecompressor().decompress(bytes(reader.rest()), max_output_size=size) if size else b""
    require(len(content) == size, "wrong size")
    return content


class Bits:
    """Bits of a byte string, low ones first."""

    def __init__(self, data):
        self.value, self.size, self.at = int.from_bytes(data, "little"), 8 * len(data), 0

    def get(self, count):
        require(self.at + count <= self.size, "bits end too early")
        self.at += count
        return self.value >> (self.at - count) & ((1 << count) - 1)

    def expect_end(self):
        require((self.at + 7) // 8 * 8 == self.size and self.value >> self.at == 0, "bits left over")


def unzigzag(z):
    return -(z + 1) // 2 if z & 1 else z // 2


def untoken(tokens, raw, width):
    s, bits, codes = (1 if width == 64 else 2), Bits(raw), []
    for token in tokens:
        z = token
        if token >= 128:
            n, t = 8 + (token - 128 >> s), token - 128 & (1 << s) - 1
            require(n <= width, "token outside the alphabet")
            low = n - 1 - s
            z = (1 << s | t) << low | bits.get(low)
        codes.append(unzigzag(z))
    bits.expect_end()
    return codes


def huffman(reader, count, width, params):
    raw = reader.take(reader.varint())
    mode = reader.get("B")
    if mode == 0:
        return untoken([reader.get("B")] * count, raw, width)
    require(mode == 1, "unknown mode")
    highest = reader.get("B")
    lengths = [n for byte in reader.take(highest // 2 + 1) for n in (byte & 15, byte >> 4)]
    require(all(n <= 12 for n in lengths) and not any(lengths[highest + 1 :]), "wrong lengths")
    require(sum(4096 >> n for n in lengths if n) == 4096, "not a code")
    codes, code = {}, 0
    for length in range(1, 13):
        for token, n in enumerate(lengths):
            if n == length:
                codes[length, code] = token
                code += 1
        code <<= 1
    sizes, tokens, m = [reader.varint() for _ in range(4)], [], (count + 3) // 4
    for k, size in enumerate(sizes):
        bits = Bits(reader.take(size))
        for _ in range(min((k + 1) * m, count) - min(k * m, count)):
            length = code = 0
            while (length, code) not in codes:
                code, length = code << 1 | bits.get(1), length + 1
                require(length <= 12, "no such code")
            tokens.append(codes[length, code])
        bits.expect_end()
    return untoken(tokens, raw, width)


def pack(reader, count, width, params):
    codes = []
    for first in range(0, count, 256):
        n = min(256, count - first)
        rows, head = (n + 7) // 8, reader.get("B")
        if head == 128 and width == 64:
            codes += [unzigzag(reader.get("Q")) for _ in range(n)]
            continue
        k, patches = head & 63, {}
        require(head < 128 and k <= 32, "impossible width")
        if head & 64:
            patched, size = reader.get("B"), reader.get("B")
            require(patched > 0 and 1 <= size <= 4, "impossible patches")
            positions = list(reader.take(patched))
            require(positions == sorted(set(positions)) and positions[-1] < n, "patch outside")
            patches = {p: int.from_bytes(reader.take(size), "little") for p in positions}
        words = np.frombuffer(reader.take((rows * k + 31) // 32 * 32), "<u4").reshape(-1, 8)
        lanes = [Bits(words[:, lane].tobytes()) for lane in range(8)]
        z = [lanes[i % 8].get(k) for i in range(8 * rows)]
        for p, high in patches.items():
            require(high > 0 and high << k < 1 << 32, "impossible patch")
            z[p] |= high << k
        codes += [unzigzag(v) for v in z[:n]]
    return codes


def fixed(reader, count, width, params):
    size, plane = params["block"], params["block"] // 8
    blocks, codes = -(-count // size), []
    heads = [int.from_bytes(reader.take(params["head"]), "little") for _ in range(blocks)]
    for head in heads:
        outlier = head >= 128
        require(head < 256 and (params["outlier"] or not outlier), "impossible head")
        f = head & 31 if outlier else head
        require(f <= width, "too many planes")
        if head == 0:
            codes += [0] * size
            continue
        first = int.from_bytes(reader.take((head >> 5 & 3) + 1), "little") if outlier else 0
        bits = lambda: [byte >> (7 - i) & 1 for byte in reader.take(plane) for i in range(8)]
        signs, planes = bits(), [bits() for _ in range(f)]
        magnitudes = [sum(planes[b][i] << b for b in range(f)) for i in range(size)]
        magnitudes[0] |= first
        codes += [signed(-m if s else m, width) for m, s in zip(magnitudes, signs)]
    return codes[:count]


def raw_codes(reader, count, width, params):
    size = reader.get("B")
    require(size in (1, 2, 4, 8) and 8 * size <= width, "impossible size")
    return [int.from_bytes(reader.take(size), "little", signed=True) for _ in range(count)]


def short_step(bound):
    scaled = bound * (2 - 2**-8)
    m, k = np.frexp(scaled)
    return float(np.ldexp(np.floor(m * 256), int(k) - 8))


class Linear:
    def __init__(self, dtype, bound):
        self.dtype, self.half = dtype, None
        if dtype in FLOATS:
            self.step = short_step(bound)
        else:
            self.half = min(int(np.floor(bound)), 1 << 60)
            self.step = 2 * self.half + 1

    def recover(self, p, q):
        if self.dtype in FLOATS:
            with np.errstate(all="ignore"):
                return to_bits(float(np.float64(p) + np.float64(q) * np.float64(self.step)), self.dtype)
        if self.half == 0 and p is None:
            return to_bits(q, self.dtype)
        value = (p or 0) + q * self.step
        if BYTES[self.dtype] < 8:
            width = 8 * BYTES[self.dtype]
            low, high = (-(1 << width - 1), (1 << width - 1) - 1) if self.dtype[0] == "i" else (0, (1 << width) - 1)
            value = max(low, min(high, signed(value, 64)))
        return to_bits(value, self.dtype)


class Exact:
    def __init__(self, dtype, bound):
        self.dtype, self.width = dtype, 8 * BYTES[dtype]

    def flip(self, order):
        return order ^ (1 << self.width - 1) - 1 if self.dtype in FLOATS and order < 0 else order

    def recover(self, p, q):
        near = 0
        if p is not None and p == p:
            near = self.flip(signed(to_bits(p, self.dtype), self.width))
        return self.flip(signed(near + q, self.width)) & (1 << self.width) - 1


def strides_of(shape):
    strides = [1] * len(shape)
    for k in range(len(shape) - 2, -1, -1):
        strides[k] = strides[k + 1] * shape[k + 1]
    return strides


def block_sums(codes, shape, params, width):
    """blocks: prefix sums inside every block."""
    axes, dtype = min(params["axes"], len(shape)), np.uint64 if width == 64 else np.uint32
    flat = np.array([c & (1 << width) - 1 for c in codes], dtype=dtype)
    if axes <= 1:
        for first in range(0, len(flat), params["size"]):
            flat[first : first + params["size"]] = np.cumsum(flat[first : first + params["size"]], dtype=dtype)
        return [signed(int(v), width) for v in flat]
    edge, used, at = {2: 8, 3: 4}[axes], list(shape[len(shape) - axes :]), 0
    array = np.zeros([len(flat) // int(np.prod(used))] + used, dtype=dtype)
    corners = list(product(range(len(array)), *(range(0, n, edge) for n in used)))
    for whole in (True, False):
        for batch, *corner in corners:
            extents = [min(edge, n - c) for n, c in zip(used, corner)]
            if (extents == [edge] * axes) != whole:
                continue
            block = flat[at : at + int(np.prod(extents))].reshape(extents)
            at += block.size
            for axis in range(axes):
                block = np.cumsum(block, axis=axis, dtype=dtype)
            array[(batch, *(slice(c, c + e) for c, e in zip(corner, extents)))] = block
    return [signed(int(v), width) for v in array.ravel()]


def prefix_sums(codes, shape, params, width):
    """lorenzo behind the quantizer: integers modulo 2^width."""
    used = shape[max(0, len(shape) - params["axes"]) :]
    array = np.array([c & (1 << width) - 1 for c in codes], dtype=np.uint64 if width == 64 else np.uint32)
    array = array.reshape([-1] + list(used))
    for _ in range(params["order"]):
        for axis in range(1, array.ndim):
            array = np.cumsum(array, axis=axis, dtype=array.dtype)
    return [signed(int(v), width) for v in array.ravel()]


def lorenzo_walk(values, codes, shape, params, grid, dtype, lowest):
    """lorenzo before the quantizer, value by value."""
    order, used = params["order"], list(shape[max(0, len(shape) - params["axes"]) :]) or [1]
    weights = {1: (1, -1), 2: (1, -2, 1)}[order]
    P = {"f64": np.float64}.get(dtype, np.float32) if dtype in FLOATS else (lambda v: v & (1 << 64) - 1)
    length, strides, size = used[-1], strides_of(used), int(np.prod(used))
    for batch in range(0, len(values), size):
        for index in product(*(range(n) for n in used[:-1])):
            row = batch + sum(i * s for i, s in zip(index, strides))
            h = [P(0)] * (length + 2)  # two zeros in front
            shifts = product(*(range(min(order, i) + 1) for i in index))
            next(shifts)
            for shift in shifts:
                w = -int(np.prod([weights[s] for s in shift]))
                other = row - sum(s * t for s, t in zip(shift, strides))
                for i in range(length):
                    h[i + 2] = P(h[i + 2] + P(w) * P(to_number(values[other + i], dtype)))
            x1 = x2 = P(0)
            for i in range(length):
                g0, g1, g2 = h[i + 2], h[i + 1], h[i]
                if order == 1:
                    p = P(x1 + P(g0 - g1))
                else:
                    p = P(P(P(2) * x1 - x2) + P(P(g0 - P(P(2) * g1)) + g2))
                code = codes[row + i]
                if code != lowest:
                    number = float(p) if dtype in FLOATS else signed(p, 64) if BYTES[dtype] < 8 else p
                    values[row + i] = grid.recover(number, code)
                x1, x2 = P(to_number(values[row + i], dtype)), x1


# ---- the stream ----------------------------------------------------------------------------------------------------


def parse_recipe(text):
    stages = []
    for part in text.split("+"):
        name, _, rest = part.partition(":")
        require(name in DEFAULTS, "unknown stage " + name)
        params = dict(DEFAULTS[name])
        for assignment in rest.split(",") if rest else []:
            key, value = assignment.split("=")
            params[key] = int(value)
        stages.append((name, params))
    return stages


def decode_body(body, recipe, dtype, shape, bound):
    stages = parse_recipe(recipe)
    names = [name for name, _ in stages]
    for name in reversed([n for n in names if n in LOSSLESS]):
        body = zstd(body) if name == "zstd" else body
    reader, size, width = Reader(body), int(np.prod(shape, dtype=object)), 64 if BYTES[dtype] == 8 else 32
    mask = read_patches(reader.section(), dtype, size)
    side = reader.section()
    exact = read_patches(reader.section(), dtype, size)
    encoder = next((n for n in names if n in ENCODERS), "raw")
    decoder = {"huffman": huffman, "pack": pack, "fixed": fixed, "raw": raw_codes}[encoder]
    codes = decoder(reader, size, width, dict(stages).get(encoder, {}))
    reader.expect_end()
    quantizer = next((n for n in names if n in QUANTIZERS), None)
    grid = {"linear": Linear, "exact": Exact}[quantizer or "exact"](dtype, bound)
    predictor = next((n for n in names if n in PREDICTORS), None)
    values = [0] * size
    if predictor and quantizer and names.index(predictor) < names.index(quantizer):
        apply_patches(exact, values)
        with np.errstate(all="ignore"):
            lorenzo_walk(values, codes, shape, dict(stages)[predictor], grid, dtype, -(1 << width - 1))
    else:
        if predictor:
            params = dict(stages)[predictor]
            if predictor == "lorenzo" and params["axes"] == 0:
                params = {**params, "axes": side.get("B"), "order": params["order"]}
                require(params["axes"] <= 3, "too many axes")
            undo = prefix_sums if predictor == "lorenzo" else block_sums
            if predictor == "blocks" or params["axes"] > 0:
                codes = undo(codes, shape, params, width)
        side.expect_end()
        values = [grid.recover(0.0 if dtype in FLOATS and quantizer == "linear" else None, q) for q in codes]
        apply_patches(exact, values)
    apply_patches(mask, values)
    return values


def read_header(reader):
    require(bytes(reader.take(8)) == b"\x89LWY\r\n\x1a\n", "not a leeway stream")
    require(reader.get("H") == 1 and reader.get("H") == 0, "unknown version")
    size = reader.get("I")
    fields, header = Reader(reader.take(size)), {"fills": []}
    require(reader.get("Q") == hash_of(reader.data[: 16 + size]), "header checksum")
    while fields.at < len(fields.data):
        tag, reserved, content = fields.get("H"), fields.get("H"), Reader(fields.take(fields.get("I")))
        extents = lambda: [content.get("Q") for _ in range(content.get("B"))]
        if tag & 0x7FFF == 1:
            header["dtype"], header["shape"] = DTYPES[content.get("B")], extents()
        elif tag & 0x7FFF == 2:
            header["chunk"] = extents()
        elif tag & 0x7FFF == 3:
            header["bound"] = [(content.get("B"), content.get("d")) for _ in range(content.get("B"))]
        elif tag & 0x7FFF == 4:
            header["abs"], header["min"], header["max"] = content.get("d"), content.get("d"), content.get("d")
        elif tag & 0x7FFF == 5:
            header["recipe"] = bytes(content.rest()).decode("ascii")
        elif tag & 0x7FFF == 6:
            header["fills"] = list(struct.iter_unpack("<Q", content.rest()))
        else:
            require(not tag & 0x8000, "unknown critical field")
            continue
        content.expect_end()
    return header


def decode_chunk(reader, ordinal, header, shape):
    head = reader.take(64)
    frame = Reader(head)
    require(bytes(frame.take(4)) == b"LWYc", "no frame")
    size, number, special, exact, bound, error, decoded_hash, payload_hash, head_hash = (frame.get(k) for k in "IQIIddQQQ")
    require(number == ordinal and head_hash == hash_of(head[:56]), "damaged frame")
    payload = reader.take(size)
    require(payload_hash == hash_of(payload), "damaged payload")
    dtype, width, count = header["dtype"], BYTES[header["dtype"]], int(np.prod(shape, dtype=object))
    kind, rest, squeezed = payload[0], payload[1:], [n for n in shape if n != 1]
    if kind == 0:
        values = bytes(rest) * count
    elif kind == 3:
        values = bytes(rest)
    else:
        require(kind in (1, 2), "unknown payload")
        recipe = header["recipe"] if kind == 1 else "exact+lorenzo+huffman+zstd"
        bits = decode_body(bytes(rest), recipe, dtype, squeezed, bound)
        values = b"".join(b.to_bytes(width, "little") for b in bits)
    require(len(values) == count * width and hash_of(values) == decoded_hash, "decoded values differ")
    return values, (error, special, exact, decoded_hash)


def decode(data):
    """The header and the values, row-major, as bytes."""
    reader = Reader(data)
    header = read_header(reader)
    shape, chunk, width = header["shape"], header["chunk"], BYTES[header["dtype"]]
    grid = [-(-n // c) for n, c in zip(shape, chunk)]
    out = np.zeros(list(shape) + [width], dtype=np.uint8)
    chunks, offset = list(product(*(range(n) for n in grid))), reader.at
    end = Reader(data[-16:])
    start = len(data) - end.get("Q")
    require(bytes(end.take(8)) == b"LWYend\r\n" and offset <= start, "wrong end")
    tail = Reader(data[start:-24])
    require(Reader(data[-24:]).get("Q") == hash_of(data[start:-24]), "damaged tail")
    require(bytes(tail.take(4)) == b"LWYt" and tail.get("I") == 0 and tail.varint() == len(chunks), "no tail")
    offsets = []
    for _ in chunks:
        offsets.append(offset)
        offset += 64 + tail.varint()
    moved = [(tail.varint(), tail.varint()) for _ in range(tail.varint())]
    require(offset <= start if moved else offset == start, "wrong index")
    for ordinal, place in moved:
        require(place >= offset, "wrong index")
        offsets[ordinal] = place
    reports = []
    for ordinal, index in enumerate(chunks):
        box = tuple(slice(i * c, min((i + 1) * c, n)) for i, c, n in zip(index, chunk, shape))
        extents = [b.stop - b.start for b in box]
        values, report = decode_chunk(Reader(data[offsets[ordinal] : start]), ordinal, header, extents)
        out[box] = np.frombuffer(values, np.uint8).reshape(extents + [width])
        reports.append(report)
    header["max_error"], header["special"], header["exact"] = (tail.get(k) for k in "dQQ")
    require(header["max_error"] == max([r[0] for r in reports], default=0), "largest error differs")
    require(header["special"] == sum(r[1] for r in reports) and header["exact"] == sum(r[2] for r in reports), "counts differ")
    require(tail.get("Q") == hash_of(struct.pack(f"<{len(reports)}Q", *(r[3] for r in reports))), "decoded hash differs")
    tail.expect_end()
    return header, out.tobytes()


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as stream:
        found, content = decode(stream.read())
    print(found)
    with open(sys.argv[2], "wb") as out:
        out.write(content)
