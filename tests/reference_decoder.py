#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A second decoder of leeway streams, written from docs/FORMAT.md and the stages' pages alone.

Plain and slow. Usage: reference_decoder.py STREAM.lwy OUT.raw
"""
import math
import re
import struct
import sys
import zlib
from collections import namedtuple
from itertools import product
from pathlib import Path

import numpy as np
import xxhash
import zstandard

if np.__version__ < "2":
    np._set_promotion_state("weak")  # an f32 stays one beside a number of Python, as in NumPy 2

DTYPES = {1: "f32", 2: "f64", 3: "f16", 4: "bf16", 5: "i8", 6: "i16", 7: "i32", 8: "i64", 9: "u8", 10: "u16", 11: "u32", 12: "u64"}
BYTES = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u16": 2, "u32": 4, "u64": 8}
FLOATS = ("f32", "f64", "f16", "bf16")
DEFAULTS = {"lorenzo": {"order": 1, "axes": 8}, "blocks": {"axes": 1, "size": 32}, "zstd": {}, "linear": {"step": "short", "bins": 0, "beyond": "exact", "second": 1, "range": 0},
            "exact": {}, "huffman": {}, "log": {}, "deflate": {"level": 6}, "wavefront": {"border": "exact"}, "ghost": {"through": "predicted"}, "adaptive": {"rule": "cost", "sort": "approximate", "page": 15, "lag": 0, "keep": 518, "restart": 969, "outliers": "classes"},
            "pack": {}, "fixed": {"block": 32, "outlier": 1, "head": 1}, "raw": {}, "store": {}, "rans": {},
            "composite": {"second": 0, "degree": 1, "block": 0}, "regression": {"degree": 1, "block": 0},
            "pattern": {"size": 0, "count": 0, "scale": "squares"}, "cross": {"rows": 36, "columns": 36},
            "fixed-huffman": {"block": 1296}, "arithmetic": {}, "residual": {},
            "lag": {"frames": 1}, "dft": {"block": 8, "waves": "cosine"}, "truncate": {"bits": 0}, "logscale": {"levels": 3}, "elementwise": {},
            "transpose": {"order": 0}, "lz4": {"level": 1}, "shuffle": {"bytes": 4}, "bitshuffle": {"bytes": 4}, "gzip": {"level": 6}, "reshape": {"axes": 2, "merge": "last"}, "linearize": {},
            "interp": {"cubic": -1, "reverse": -1, "alpha": 0.0, "beta": 2.0},
            "wavelet": {"filter": -1, "order": -1, "trade": 8, "reach": 0},
            "pyramid": {"frozen": -1, "tight": -1, "taps": 12, "every": 8, "gain": 4, "tile": -1}}
PREPROCESSORS = {"log", "transpose", "reshape", "linearize", "dft"}
PREDICTORS, QUANTIZERS = {"lorenzo", "blocks", "interp", "pyramid", "wavefront", "ghost", "composite", "regression", "lag", "pattern", "cross", "wavelet"}, {"linear", "logscale", "elementwise", "truncate", "exact"}
ENCODERS, LOSSLESS = {"huffman", "adaptive", "rans", "pack", "fixed", "raw", "fixed-huffman", "arithmetic", "residual"}, {"zstd", "deflate", "gzip", "lz4", "shuffle", "bitshuffle", "store"}

RECIPES = [
    "linear+lorenzo+huffman+zstd",
    "linear+lorenzo:axes=0+pack",
    "pyramid+linear+rans",
    "pyramid:taps=28,every=4,gain=0+linear+rans",
    "exact+lorenzo+huffman+zstd",
    "log+linear+lorenzo+huffman+zstd",
    "log+linear+lorenzo:axes=0+pack",
    "log+pyramid+linear+rans",
    "log+pyramid:taps=28,every=4,gain=0+linear+rans",
    "linear+lorenzo+adaptive+zstd",
    "linear+blocks+fixed:outlier=0,head=4",
    "linear+blocks+fixed",
    "linear+blocks+fixed:outlier=0",
    "ghost+linear:bins=16384+raw+deflate:level=1",
    "lorenzo+linear:bins=65536+huffman+deflate:level=1",
    "lorenzo+linear+huffman+zstd",
    "log+lorenzo+linear+huffman+zstd",
    "linear+pattern:scale=peak+fixed-huffman",
    "linear+pattern:scale=peak+fixed-huffman+zstd",
    "linear:bins=128,beyond=planes+pattern+huffman+zstd",
    "linear+cross+rans",
    "lorenzo+exact+residual",
    "composite+linear+huffman+zstd:level=6",
    "truncate+raw",
    "wavefront+linear:step=pow2,bins=65536+raw+deflate:level=1",
    "wavefront+linear:step=pow2,bins=65536+huffman+deflate:level=1",
    "interp+linear+huffman+zstd",
    "linear+huffman",
    "linear+arithmetic",
    "transpose+linear:step=pow2+arithmetic",
    "wavefront+linear:step=pow2,bins=65536,second=0+raw+deflate:level=1",
    "pyramid:taps=0+linear:range=1+rans|linear:range=1+lorenzo+rans|interp+linear:range=1+huffman+zstd:level=6|linear:range=1+lorenzo:axes=0+pack",
    "pyramid+linear:range=1+rans|pyramid:taps=0+linear:range=1+rans|linear:range=1+lorenzo+rans|interp+linear:range=1+huffman+zstd:level=6|linear:range=1+lorenzo:axes=0+pack",
    "pyramid:taps=28,every=4,gain=0+linear:range=1+rans|pyramid+linear:range=1+rans|pyramid:taps=0+linear:range=1+rans|linear:range=1+lorenzo+rans|interp+linear:range=1+huffman+zstd:level=6|linear:range=1+lorenzo:axes=0+pack",
    "log+pyramid:taps=0+linear:range=1+rans|log+linear:range=1+lorenzo+rans|log+interp+linear:range=1+huffman+zstd:level=6|log+linear:range=1+lorenzo:axes=0+pack",
    "log+pyramid+linear:range=1+rans|log+pyramid:taps=0+linear:range=1+rans|log+linear:range=1+lorenzo+rans|log+interp+linear:range=1+huffman+zstd:level=6|log+linear:range=1+lorenzo:axes=0+pack",
    "log+pyramid:taps=28,every=4,gain=0+linear:range=1+rans|log+pyramid+linear:range=1+rans|log+pyramid:taps=0+linear:range=1+rans|log+linear:range=1+lorenzo+rans|log+interp+linear:range=1+huffman+zstd:level=6|log+linear:range=1+lorenzo:axes=0+pack",
    "wavelet+linear+rans",
    "ghost:through=decoded+linear:bins=2+raw+gzip:level=1",
    "interp+linear+huffman+zstd|composite+linear+huffman+zstd:level=6",
    "linear:bins=128,beyond=planes+pattern+fixed-huffman+zstd",
    "transpose:order=231+lorenzo:axes=1+linear:bins=128,beyond=planes+fixed-huffman",
]  # by the numbers that brief streams have for them


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
    """A list of (first, count, bits)."""
    return read_list(Reader(zstd(reader.data)), dtype, size) if len(reader.data) else []


def read_list(reader, dtype, size):
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


def unpacked(data, unpack):
    reader = Reader(data)
    method = reader.get("B")
    if method == 0:
        return bytes(reader.rest())
    require(method == 1, "unknown method")
    size = reader.varint()
    content = unpack(bytes(reader.rest()), size) if size else b""
    require(len(content) == size, "wrong size")
    return content


def zstd(data):
    return unpacked(data, lambda frame, size: zstandard.ZstdDecompressor().decompress(frame, max_output_size=size))


def inflate(data):
    return unpacked(data, lambda stream, size: zlib.decompress(stream, wbits=-15, bufsize=size))


def lz4(data):
    return unpacked(data, lz4_block)


def lz4_block(block, size):
    """An LZ4 block: literals, then a match, in turn; the last has literals only."""
    reader, out = Reader(block), bytearray()

    def length(nibble, least):
        if nibble == 15:
            while (more := reader.get("B")) == 255:
                nibble += 255
            nibble += more
        return nibble + least

    while reader.at < len(block):
        token = reader.get("B")
        out += bytes(reader.take(length(token >> 4, 0)))
        if reader.at == len(block):
            break
        distance, count = reader.get("H"), length(token & 15, 4)
        require(0 < distance <= len(out), "match before the start")
        for _ in range(count):
            out.append(out[-distance])
    return bytes(out)


def unshuffle(data, width):
    count = len(data) // width
    whole = np.frombuffer(data[: count * width], np.uint8).reshape(width, count).T.tobytes()
    return whole + bytes(data[count * width :])


def unshuffle_bits(data, width):
    count = len(data) // width // 8 * 8
    planes = np.unpackbits(np.frombuffer(data[: count * width], np.uint8).reshape(8 * width, count // 8), axis=1, bitorder="little")
    return np.packbits(planes.T.reshape(count * width, 8), axis=1, bitorder="little").tobytes() + bytes(data[count * width :])


def gunzip(data):
    unpacker = zlib.decompressobj(31)
    content = unpacker.decompress(bytes(data))
    require(unpacker.eof and not unpacker.unused_data, "damaged gzip file")
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


def code_of(token, bits, width):
    s = 1 if width == 64 else 2
    if token < 128:
        return unzigzag(token)
    if token == {32: 228, 64: 242}[width]:
        return -(1 << width - 1)
    n, t = 8 + (token - 128 >> s), token - 128 & (1 << s) - 1
    require(n <= width, "token outside the alphabet")
    low = n - 1 - s
    return unzigzag((1 << s | t) << low | bits.get(low))


def untoken(tokens, raw, width):
    bits = Bits(raw)
    codes = [code_of(token, bits, width) for token in tokens]
    bits.expect_end()
    return codes


def huffman(reader, count, width, params):
    raw = reader.take(reader.varint())
    mode = reader.get("B")
    if mode == 0:
        return untoken([reader.get("B")] * count, raw, max(width, 32))
    if mode == 2:
        codes, rest = codewords(sparse_lengths(reader)), reader.rest()
        return untoken(read_stream(Bits(rest), count, codes), raw, max(width, 32))
    require(mode == 1, "unknown mode")
    highest = reader.get("B")
    lengths = [n for byte in reader.take(highest // 2 + 1) for n in (byte & 15, byte >> 4)]
    require(all(n <= 12 for n in lengths) and not any(lengths[highest + 1 :]), "wrong lengths")
    codes, sizes = codewords(lengths), [reader.varint() for _ in range(4)]
    return untoken(read_streams(reader, sizes, count, codes), raw, max(width, 32))


def sparse_lengths(reader):
    """Until they form a code."""
    halves, lengths = iter(()), []

    def nibble():
        nonlocal halves
        found = next(halves, None)
        if found is None:
            byte = reader.get("B")
            found, halves = byte & 15, iter((byte >> 4,))
        return found

    while sum(4096 >> n for n in lengths if n) < 4096:
        n = nibble()
        require(n < 15 and len(lengths) < 256, "wrong lengths")
        lengths += [0] * (nibble() + 2) if n == 13 else [0] * (nibble() + 16 * nibble() + 18) if n == 14 else [n]
    require(len(lengths) <= 256 and not any(halves), "wrong lengths")
    return lengths


def codewords(lengths):
    """(length, code): token, canonical."""
    require(sum(4096 >> n for n in lengths if n) == 4096, "not a code")
    codes, code = {}, 0
    for length in range(1, 13):
        for token, n in enumerate(lengths):
            if n == length:
                codes[length, code] = token
                code += 1
        code <<= 1
    return codes


def read_streams(reader, sizes, count, codes):
    tokens, m = [], (count + 3) // 4
    for k, size in enumerate(sizes):
        tokens += read_stream(Bits(reader.take(size)), min((k + 1) * m, count) - min(k * m, count), codes)
    return tokens


def read_stream(bits, count, codes):
    tokens = []
    for _ in range(count):
        length = code = 0
        while (length, code) not in codes:
            code, length = code << 1 | bits.get(1), length + 1
            require(length <= 12, "no such code")
        tokens.append(codes[length, code])
    bits.expect_end()
    return tokens


def offline_books():
    source = (Path(__file__).parent.parent / "leeway/encode/parts/offline_books.cc").read_text()
    entries = re.findall(r'\{(-?\d+),\s*((?:"[0-9a-f]+"\s*)+)\}', source)
    return [(int(low), [int(digit, 16) for digit in re.sub(r'["\s]', "", text)]) for low, text in entries]


def adaptive(reader, count, width, params):
    classes, book, codes = (10, 11, 12, 13, 14, 15, 16, 18, 21, 25, 32, 64), None, []
    while len(codes) < count:
        change, n = reader.get("B"), min(1 << params["page"], count - len(codes))
        if change == 1:
            first, symbols = reader.get("H"), reader.get("H")
            require(symbols > 0 and first + symbols <= 1024, "a book outside the alphabet")
            lengths = [k for byte in reader.take((12 + symbols + 1) // 2) for k in (byte & 15, byte >> 4)]
            require(not any(lengths[12 + symbols :]), "length behind the last")
            book = first - 512, lengths[: 12 + symbols]
        elif change > 1:
            books = offline_books()
            require(change - 2 < len(books), "no such book")
            book = books[change - 2]
        require(book is not None, "no book yet")
        low, lengths = book
        sizes = [reader.varint() for _ in range(4)]
        raw = Bits(reader.section().data)
        for token in read_streams(reader, sizes, n, codewords(lengths)):
            codes.append(unzigzag(raw.get(classes[token])) if token < 12 else low + token - 12)
        raw.expect_end()
    return codes


def level_frequency(level):
    return level if level < 4 else 4 + level % 4 << level // 4 - 1


def curve(last, zeros, mean, tail, mantissa):
    """Frequencies of tokens from four numbers."""
    steps = lambda k: 4 + k % 4 << k // 4
    share, slower = ((0, 0), (3, 8), (3, 12), (6, 8))[tail]
    ratios = [(steps(m) << 32) // (steps(m) + 256) for m in (mean, min(mean + slower, 63))]
    zero = (steps(zeros) << 32) // (steps(zeros) + 1024)
    others, free = (1 << 32) - zero, 4096 - (last + 1)
    mix = lambda a, b: (16 - share) * a + share * b >> 4

    def power(ratio, k):
        result = 1 << 32
        while k:
            result = result * ratio >> 32 if k & 1 else result
            k, ratio = k >> 1, ratio * ratio >> 32
        return result

    masses, beyond = [zero], [1 << 32, 1 << 32]
    for token in range(1, min(last, 127) + 1, 2):
        then = [b * r >> 32 for b, r in zip(beyond, ratios)]
        masses += [mix(*(b - t for b, t in zip(beyond, then))) * others >> 33] * 2
        beyond = then
    masses = masses[: min(last, 127) + 1]
    for token in range(128, last + 1):
        octave, place = token - 128 >> mantissa, token - 128 & (1 << mantissa) - 1
        leading, shift = (1 << mantissa) + place, min(octave + 7 - mantissa, 55)
        first, end = leading << shift >> 1, leading + 1 << shift >> 1
        masses.append(mix(*(power(r, first - 1) - power(r, end - 1) for r in ratios)) * others >> 32)
    frequencies = [1 + (m * free >> 32) for m in masses] + [0] * (255 - last)
    frequencies[frequencies.index(max(frequencies))] += 4096 - sum(frequencies)
    return frequencies


class Rans:
    """Codes one by one, each with its context."""

    def __init__(self, reader, count, width):
        self.count, self.width, self.done = count, width, 0
        if count == 0:
            return
        size, self.table_of, table = reader.varint(), [0] * 256, 0
        self.first_form = size > 0
        head = Bits(reader.take(size or reader.varint()))
        if self.first_form:
            highest = head.get(8)
            for context in range(1, 256):
                table += head.get(1) if context <= highest else 0
                self.table_of[context] = table
        else:
            table, before = head.get(8), 0
            for number in range(1, table + 1):
                first = head.get(8)
                require(first > before, "contexts out of order")
                self.table_of[first:], before = [number] * (256 - first), first
        require(table < count, "more tables than codes")
        self.tables = [self.read_table(head, width) for _ in range(table + 1)]
        head.expect_end()
        self.reader, self.in_segment = reader, 0

    def segment(self, count):
        """The next so many codes can be decoded without those before."""
        raw_bytes, words_and_states = self.reader.varint(), self.reader.varint()
        words, number = (words_and_states >> 1, 1 + words_and_states % 2) if self.first_form else divmod(words_and_states, 4)
        require(number < 3, "unknown number of states")
        self.states = [self.reader.get("I") for _ in range((1, 8, 32)[number])]
        self.raw = Bits(bytes(self.reader.take(raw_bytes)))
        self.words = Reader(bytes(self.reader.take(2 * words)))
        self.done, self.in_segment = 0, count

    @staticmethod
    def read_table(bits, width):
        slots = lambda frequencies: [(token, f, place) for token, f in enumerate(frequencies) for place in range(f)]
        if bits.get(1):
            return slots(curve(*(bits.get(n) for n in (8, 6, 6, 2)), 1 if width == 64 else 2))
        top, count, levels, frequencies = bits.get(8), bits.get(9), [], [0] * 256
        require(count <= 256, "table too long")
        for token in range(count):
            expected = 24 if token < 2 else levels[token - 2]
            if token >= 4:
                expected = max(0, min(43, 2 * levels[token - 2] - levels[token - 4]))
            if token != top:
                n = 0
                while bits.get(1) == 0:
                    n += 1
                    require(n <= 8, "impossible level")
                expected += unzigzag((1 << n | bits.get(n)) - 1)
                require(0 <= expected <= 43, "impossible level")
                frequencies[token] = level_frequency(expected)
            levels.append(expected)
        require(sum(frequencies) < 4096, "frequencies too large")
        frequencies[top] = 4096 - sum(frequencies)
        return slots(frequencies)

    def next(self, context):
        if self.in_segment == 0:
            self.segment(self.count)
        lane = self.done % len(self.states)
        x = self.states[lane]
        token, f, place = self.tables[self.table_of[context]][x & 4095]
        x = f * (x >> 12) + place
        if x < 1 << 16:
            x = x << 16 | self.words.get("H")
        self.states[lane] = x
        self.done += 1
        code = code_of(token, self.raw, self.width)
        if self.done == self.in_segment:
            self.raw.expect_end()
            self.words.expect_end()
            require(all(x == 1 << 16 for x in self.states), "wrong last state")
        return code


def rans(reader, count, width, params):
    source = Rans(reader, count, width)
    return [source.next(0) for _ in range(count)]


def causal_codes(reader, shape, count, width):
    """Codes in the order of an array, each with what the row and the plane before tell about it."""
    source = Rans(reader, count, width)
    if len(shape) < 2 or shape[-1] < 32:
        return [source.next(0) for _ in range(count)]
    lags = [shape[-1]] + ([shape[-1] * shape[-2]] if len(shape) > 2 else [])
    sizes, codes = [0] * (max(lags) + 1), []
    for _ in range(count):
        at = len(sizes)
        total = sum(2 * sizes[at - lag] + sizes[at - lag - 1] + sizes[at - lag + 1] for lag in lags)
        context = (int(np.float32(total + 1).view(np.uint32)) >> 22) - 254
        codes.append(source.next(context))
        sizes.append(min(255, abs(codes[-1])))
    return codes


def pack(reader, count, width, params):
    codes = []
    for first in range(0, count, 256):
        n = min(256, count - first)
        rows, head = (n + 15) // 16, reader.get("B")
        if head == 128 and width == 64:
            codes += [unzigzag(reader.get("Q")) for _ in range(n)]
            continue
        k, patches = head & 63, {}
        require(head < 128 and k <= min(width, 32), "impossible width")
        if head & 64:
            patched, size = reader.get("B"), reader.get("B")
            require(patched > 0 and 1 <= size <= 4, "impossible patches")
            positions = list(reader.take(patched))
            require(positions == sorted(set(positions)) and positions[-1] < n, "patch outside")
            patches = {p: int.from_bytes(reader.take(size), "little") for p in positions}
        z = [0] * (16 * rows)
        for low in range(0, k, 16):
            part = min(16, k - low)
            words = np.frombuffer(reader.take((rows * part + 15) // 16 * 32), "<u2").reshape(-1, 16)
            lanes = [Bits(words[:, lane].tobytes()) for lane in range(16)]
            z = [v | lanes[i % 16].get(part) << low for i, v in enumerate(z)]
        for p, high in patches.items():
            require(high > 0 and high << k < 1 << min(width, 32), "impossible patch")
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


def fixed_huffman(reader, count, width, params):
    bits, codes = Bits(reader.section().rest()), []

    def one(w):
        if w == 0 or bits.get(1):
            return 0
        if w == 2 or not bits.get(1):
            return 1 + bits.get(1)
        return bits.get(w)

    while len(codes) < count:
        w = bits.get(7)
        require(w != 1 and w <= width, "impossible width")
        codes += [unzigzag(one(w)) for _ in range(min(params["block"], count - len(codes)))]
    bits.expect_end()
    return codes


class RangeCoder:
    def __init__(self, reader):
        self.reader, self.range, self.code = reader, (1 << 32) - 1, int.from_bytes(reader.take(4), "big")

    def decide(self, learners, key):
        quick, slow = learners.get(key, (0x8000, 0x8000))
        no = (self.range >> 12) * min(max(quick + slow >> 5, 1), 4095)
        yes = self.code >= no
        if yes:
            self.code, self.range = self.code - no, self.range - no
            learners[key] = quick - (quick >> 4), slow - (slow >> 7)
        else:
            self.range = no
            learners[key] = quick + (0xFFFF - quick >> 4), slow + (0xFFFF - slow >> 7)
        while self.range < 1 << 24:
            self.range, self.code = self.range << 8, self.code << 8 | self.reader.get("B")
        return yes

    def number(self, learners, key, bits):
        node = 1
        for _ in range(bits):
            node = node << 1 | self.decide(learners, (key, node))
        return node - (1 << bits)


def arithmetic(reader, count, width, params):
    raw, coder, learners, tokens = reader.section().rest(), RangeCoder(reader), {}, []
    last = second = 0
    for _ in range(count):
        token = coder.number(learners, last + second, 8) if coder.decide(learners, ("any", last + second)) else 0
        tokens.append(token)
        last, second = min(token.bit_length(), 6), last
    return untoken(tokens, raw, width)


def residual(reader, count, width, params):
    raw, coder, learners, codes = Bits(reader.section().rest()), RangeCoder(reader), {}, []
    for _ in range(count):
        length = coder.number(learners, "length", 7)
        require(length <= width, "a number too long")
        negative = length and coder.decide(learners, "negative")
        size = 1 << length - 1 | raw.get(length - 1) if length else 0
        codes.append(-size if negative else size)
    raw.expect_end()
    return codes


def raw_codes(reader, count, width, params):
    codes = []
    while len(codes) < count:
        size, shift = reader.get("B"), reader.get("B")
        require(1 <= size <= width // 8 and not shift & 0x40 and shift & 0x3F < width, "impossible size")
        for _ in range(min(2048, count - len(codes))):
            code = int.from_bytes(reader.take(size), "little", signed=True)
            lowest = shift & 0x80 and code == -(1 << 8 * size - 1)
            codes.append(-(1 << width - 1) if lowest else signed(code << (shift & 0x3F), width))
    return codes


def short_step(bound):
    scaled = bound * (2 - 2**-8)
    m, k = np.frexp(scaled)
    return float(np.ldexp(np.floor(m * 256), int(k) - 8))


class Linear:
    def __init__(self, dtype, bound, params):
        self.dtype, self.half, self.bins = dtype, None, params["bins"] if params["beyond"] == "exact" else 0
        self.range = None  # two bit patterns
        binary = params["step"] == "pow2"
        if dtype in FLOATS:
            self.step = float(2.0 ** np.frexp(bound)[1]) if binary else short_step(bound)
        else:
            self.half = min(int(np.floor(bound)), 1 << 60)
            self.step = 2 * self.half + 1
            if binary:
                self.step = 1 << self.step.bit_length() - 1

    def recover(self, p, q, at=0):
        bits = self.recover_anywhere(p, q)
        if self.range is None or (self.half == 0 and self.bins == 0 and p is None):
            return bits
        value, (low, high) = to_number(bits, self.dtype), [to_number(end, self.dtype) for end in self.range]
        return self.range[0] if value < low else self.range[1] if high < value else bits

    def recover_anywhere(self, p, q):
        if self.dtype in FLOATS:
            with np.errstate(all="ignore"):
                if self.dtype == "f32" and abs(q) <= 65536 and 2.0**-100 < self.step < 2.0**100:
                    return to_bits(np.float32(p) + np.float32(q) * np.float32(self.step), "f32")
                return to_bits(float(np.float64(p) + np.float64(q) * np.float64(self.step)), self.dtype)
        if self.half == 0 and self.bins == 0 and p is None:
            return to_bits(q, self.dtype)
        value = (p or 0) + q * self.step
        if BYTES[self.dtype] < 8:
            width = 8 * BYTES[self.dtype]
            low, high = (-(1 << width - 1), (1 << width - 1) - 1) if self.dtype[0] == "i" else (0, (1 << width) - 1)
            value = max(low, min(high, signed(value, 64)))
        return to_bits(value, self.dtype)


class Elementwise:
    """A linear grid for each class of values."""

    def __init__(self, dtype, bound, classes, of_value):
        self.grids = [Linear(dtype, e, DEFAULTS["linear"]) for e in [bound, *classes]]
        self.step, self.of_value = self.grids[0].step, of_value

    def recover(self, p, q, at=0):
        return self.grids[self.of_value[at] if self.of_value else 0].recover(p, q)


class Exact:
    def __init__(self, dtype, bound, params):
        self.dtype, self.width = dtype, 8 * BYTES[dtype]

    def flip(self, order):
        return order ^ (1 << self.width - 1) - 1 if self.dtype in FLOATS and order < 0 else order

    def recover(self, p, q, at=0):
        near = 0
        if p is not None and p == p:
            near = self.flip(signed(to_bits(p, self.dtype), self.width))
        return self.flip(signed(near + q, self.width)) & (1 << self.width) - 1


class Truncate:
    def __init__(self, dtype, bound, params):
        self.floating, self.width = dtype in FLOATS, 8 * BYTES[dtype]
        self.low = max(self.width - params["bits"], 0) if params["bits"] else 0

    def recover(self, p, q, at=0):
        sign = 1 << self.width - 1 if self.floating and q < 0 else 0
        return ((abs(q) if self.floating else q) << self.low | sign) & (1 << self.width) - 1


class Logscale:
    def __init__(self, dtype, bound, params):
        self.dtype, self.step, self.levels = dtype, short_step(bound), params["levels"]

    def recover(self, p, q, at=0):
        n, finest = self.levels, 2.0**-self.levels
        distance = (2.0 ** abs(q) - 1) * finest if abs(q) <= n else abs(q) - n + (1 - finest)
        return to_bits(float(np.float64(p) + np.float64(distance * self.step * (-1 if q < 0 else 1))), self.dtype)


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


def rows_of(shape):
    """The table of wavefront and ghost: rows and their length."""
    rows = shape[0] if len(shape) > 1 else 1
    return rows, int(np.prod(shape, dtype=object)) // max(rows, 1)


def wavefront_walk(codes, shape, params, grid, dtype, exact, lowest):
    rows, length = rows_of(shape)
    order = [(i, j) for i in range(rows) for j in range(length)]
    P = {"f64": np.float64}.get(dtype, np.float32)
    values = [0] * (rows * length)
    x = lambda i, j: P(to_number(values[i * length + j], dtype)) if i >= 0 and j >= 0 else P(0)
    for number, (i, j) in enumerate(order):
        h, before = P(P(0) + x(i - 1, j)), P(P(0) + x(i - 1, j - 1)) if j else P(0)
        p = P(x(i, j - 1) + P(h - before))
        if codes[number] == lowest:
            values[i * length + j] = exact.get(number, 0)
        else:
            values[i * length + j] = grid.recover(as_prediction(p, dtype), codes[number], number)
    return values


def ghost_walk(codes, shape, params, grid, dtype, exact, lowest, side):
    rows, length = rows_of(shape)
    P = {"f64": np.float64}.get(dtype, np.float32)
    values, waiting = [], []
    distance = lambda a, b: abs(np.float64(a) - np.float64(b))
    for number in range(rows * length):
        if number % length == 0:
            values.append(exact.get(number, 0))
            a = b = c = P(to_number(values[-1], dtype))
            continue
        if not waiting:
            byte = side.get("B")
            waiting = [byte >> shift & 3 for shift in (0, 2, 4, 6)]
        choice = waiting.pop(0)
        require(choice < 3, "there are three curves only")
        p = (a, P(P(P(2) * a) - b), P(P(P(3) * P(a - b)) + c))[choice]
        values.append(exact.get(number, 0) if codes[number] == lowest else grid.recover(as_prediction(p, dtype), codes[number]))
        x = P(to_number(values[-1], dtype))
        goes_on = params["through"] == "predicted" and distance(x, p) <= 8191.75 * float(grid.step)
        a, b, c = p if goes_on else x, a, b
    return values


def as_prediction(p, dtype):
    return float(p) if dtype in FLOATS else signed(p, 64) if BYTES[dtype] < 8 else p


def lorenzo_walk(values, codes, shape, params, grid, dtype, lowest):
    """lorenzo before the quantizer, value by value."""
    order, used = params["order"], list(shape[max(0, len(shape) - params["axes"]) :]) or [1]
    weights = [(-1) ** k * math.comb(order, k) for k in range(order + 1)]
    P = {"f64": np.float64}.get(dtype, np.float32) if dtype in FLOATS else (lambda v: v & (1 << 64) - 1)
    length, strides, size = used[-1], strides_of(used), int(np.prod(used))
    for batch in range(0, len(values), size):
        for index in product(*(range(n) for n in used[:-1])):
            row = batch + sum(i * s for i, s in zip(index, strides))
            h = [P(0)] * (length + order)  # zeros in front
            shifts = list(product(*(range(min(order, i) + 1) for i in index)))[1:]
            shifts.sort(key=lambda shift: not any(shift[:-1]))  # rows of the same table last
            for shift in shifts:
                w = -int(np.prod([weights[s] for s in shift]))
                other = row - sum(s * t for s, t in zip(shift, strides))
                for i in range(length):
                    h[i + order] = P(h[i + order] + P(w) * P(to_number(values[other + i], dtype)))
            before = [P(0)] * order  # the nearest first
            for i in range(length):
                own, others = P(0), h[i + order]
                for k in range(1, order + 1):
                    own = P(own + P(P(-weights[k]) * before[k - 1]))
                    others = P(others + P(P(weights[k]) * h[i + order - k]))
                code = codes[row + i]
                if code != lowest:
                    values[row + i] = grid.recover(as_prediction(P(own + others), dtype), code, row + i)
                before = [P(to_number(values[row + i], dtype)), *before[:-1]]


def number_type(dtype):
    return np.float32 if dtype in ("f32", "f16", "bf16") or BYTES[dtype] <= 2 else np.float64


def rounded(p, dtype):
    """A prediction as the quantizer wants it."""
    if dtype in FLOATS:
        return p
    width = 8 * BYTES[dtype]
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if dtype[0] == "i" else (0, (1 << width) - 1)
    if not p > float(low):
        return low
    if not p < float(high):
        return high
    down = np.floor(np.float64(p))
    return int(down) if np.float64(p) - down < 0.5 else int(down + 1)


def level_factor(level, alpha, beta):
    factor = 1.0
    for _ in range(level):
        if factor < beta:
            factor *= alpha
    return 1 / min(factor, beta)


def composite_walk(codes, shape, params, grid, dtype, exact, lowest, side):
    """composite and regression: values as bits."""
    C = number_type(dtype)
    P = {"f64": np.float64}.get(dtype, np.float32) if dtype in FLOATS else (lambda v: int(v) & (1 << 64) - 1)
    used = list(shape[max(0, len(shape) - 4) :])
    rank, extents = len(used), [1] * (4 - len(used)) + used
    edge = min(params["block"], (128, 128, 45, 12, 6)[rank]) if params["block"] else (128, 128, 16, 6, 6)[rank]
    strides, size = strides_of(extents), int(np.prod(extents, dtype=object))
    values, done = [0] * int(np.prod(shape, dtype=object)), 0
    starts = [range(0, n, 1 if n == 1 else edge) for n in extents]
    for batch in range(0, len(values), size) if size else []:
        blocks = list(product(*starts))
        notes = side.take((len(blocks) + 3) // 4)
        methods = [notes[i // 4] >> 2 * (i % 4) & 3 for i in range(len(blocks))]
        numbers = {}
        for method, terms in ((2, 5), (3, 15)):
            columns = []
            for _ in range(terms):
                column, before = [], 0
                for _ in range(methods.count(method)):
                    z = side.varint()
                    before += -(z + 1 >> 1) if z & 1 else z >> 1
                    column.append(before)
                columns.append(column)
            numbers[method] = iter(list(zip(*columns)))
        for first, method in zip(blocks, methods):
            block = [min(1 if n == 1 else edge, n - f) for n, f in zip(extents, first)]
            if method >= 2:
                predicted = polynomial(block, method - 1, next(numbers[method]), grid.step, C)
            for number, place in enumerate(product(*(range(n) for n in block))):
                index = [f + i for f, i in zip(first, place)]
                if method >= 2:
                    p = rounded(predicted[number], dtype)
                else:
                    p = as_prediction(block_lorenzo(values, batch, index, extents, strides, method + 1, dtype, P), dtype)
                at = batch + sum(i * s for i, s in zip(index, strides))
                values[at] = exact.get(done, 0) if codes[done] == lowest else grid.recover(p, codes[done])
                done += 1
    return values


def polynomial(block, degree, numbers, step, C):
    """The predictions of a block, in row-major order."""
    u = [np.arange(n) - (n - 1) / 2 for n in block]
    v = [u[k] ** 2 - (n * n - 1) / 12 for k, n in enumerate(block)]
    one = [np.ones(n) for n in block]
    terms = [one] + [one[:k] + [u[k]] + one[k + 1 :] for k in range(4)]
    if degree == 2:
        terms += [one[:k] + [v[k]] + one[k + 1 :] for k in range(4)]
        for k in range(4):
            terms += [[u[i] if i in (k, l) else one[i] for i in range(4)] for l in range(k + 1, 4)]
    total = np.zeros(block, C)
    for number, (a, b, c, d) in zip(numbers, terms):
        basis = a[:, None, None, None] * b[:, None, None] * c[:, None] * d
        largest = float(np.max(np.abs(basis)))
        if largest > 0:
            total = total + C(np.float64(number) * (np.float64(step) * 0.25 / largest)) * basis.astype(C)
    return total.ravel()


def block_lorenzo(values, batch, index, extents, strides, order, dtype, P):
    weights = [(-1) ** k * math.comb(order, k) for k in range(order + 1)]
    x = lambda where: P(to_number(values[batch + sum(i * s for i, s in zip(where, strides))], dtype)) if where[3] >= 0 else P(0)

    def h(back):
        total = P(0)
        if index[3] >= back:
            for shift in list(product(*(range(min(order, i) + 1) for i in index[:3])))[1:]:
                w = -int(np.prod([weights[s] for s in shift]))
                total = P(total + P(P(w) * x([i - s for i, s in zip(index, shift)] + [index[3] - back])))
        return total

    last, second = x(index[:3] + [index[3] - 1]), x(index[:3] + [index[3] - 2])
    if order == 1:
        return P(last + P(h(0) - h(1)))
    return P(P(P(P(2) * last) - second) + P(P(h(0) - P(P(2) * h(1))) + h(2)))


WALKERS = {"lag", "interp", "composite", "regression", "pattern", "cross"}


def lag_walk(codes, shape, frames, grid, dtype, exact, lowest):
    rows, length = rows_of(shape)
    P = {"f64": np.float64}.get(dtype, np.float32) if dtype in FLOATS else (lambda v: int(v) & (1 << 64) - 1)
    values = []
    for number in range(rows * length):
        t = number // length
        x = lambda back: P(to_number(values[number - back * length], dtype))
        if t == 0:
            p = P(to_number(values[-1], dtype)) if values else P(0)
        elif min(frames, t) == 1:
            p = x(1)
        elif min(frames, t) == 2:
            p = P(P(P(2) * x(1)) - x(2))
        else:
            p = P(P(P(3) * P(x(1) - x(2))) + x(3))
        values.append(exact.get(number, 0) if codes[number] == lowest else grid.recover(as_prediction(p, dtype), codes[number], number))
    return values


def half_up(x):
    down = np.floor(x)
    return int(down) if x - down < 0.5 else int(down + 1)


def pattern_of_values(size, side, dtype, predict):
    """pattern before the quantizer: predict(number, p) gives a value, in the order of visits."""
    n, m = side.varint(), side.varint()
    require(0 < n <= 1024 and 0 < m <= 1024, "impossible pattern")
    bits, values, visits, decoded = Bits(side.rest()), [None] * size, iter(range(size)), dtype in FLOATS
    P = np.float64 if number_type(dtype) == np.float64 else np.float32
    for first in range(0, size - n * m + 1, n * m):
        w, which, noted = bits.get(6), 0, [0] * n
        require(w <= 40, "a pattern of too many bits")
        if w:
            which = bits.get((m - 1).bit_length())
            require(which < m, "no such sub-block")
            noted = noted if decoded else [unzigzag(bits.get(w + 1)) for _ in range(n)]
        scales = [0 if not w else 1 << w if s == which else unzigzag(bits.get(w + 2)) for s in range(m)]
        for s in sorted(range(m), key=lambda s: decoded and s != which):
            for k in range(n):
                p = P(0)
                if w and not (decoded and s == which):
                    of = to_number(values[first + which * n + k], dtype) if decoded else noted[k]
                    p = P(np.float64(scales[s]) * np.float64(of) * 2.0**-w)
                values[first + s * n + k] = predict(next(visits), p)
    bits.expect_end()
    return [predict(next(visits), P(0)) if value is None else value for value in values]


def pattern_walk(codes, side):
    n, m = side.varint(), side.varint()
    require(0 < n <= 1024 and 0 < m <= 1024, "impossible pattern")
    bits, values = Bits(side.rest()), []
    while len(values) + n * m <= len(codes):
        w, which, pattern, scales = bits.get(6), 0, [0] * n, [0] * m
        require(w <= 40, "a pattern of too many bits")
        if w:
            which = bits.get((m - 1).bit_length())
            pattern = [unzigzag(bits.get(w + 1)) for _ in range(n)]
            scales = [1 << w if s == which else unzigzag(bits.get(w + 2)) for s in range(m)]
        for s in range(m):
            for k in range(n):
                p = np.float64(scales[s]) * np.float64(pattern[k]) * 2.0**-w
                values.append(codes[len(values)] + half_up(p))
    bits.expect_end()
    return values + codes[len(values) :]


def cross_walk(next_code, size, params, side):
    """Blocks of integers as crosses; values in their places."""
    rows, columns = params["rows"], params["columns"]
    values, before = [0] * size, 0.0
    edge = lambda count: round(count**0.5) if round(count**0.5) ** 2 == count else 0
    twin = lambda i, n: i % n * n + i // n

    def magnitude(x):
        if not x >= 1:
            return 0
        mantissa, exponent = np.frexp(x)
        return 2 * (int(exponent) - 1) + (2 * float(mantissa) >= float.fromhex("0x1.6a09e667f3bcdp0")) + 1

    octaves = lambda x: min(magnitude(x), 140) // 2
    for first in range(0, size - rows * columns + 1, rows * columns):
        flags, count = side.get("B"), side.get("B")
        n, m = edge(rows) if flags & 1 else 0, edge(columns) if flags & 2 else 0
        pivots = list(zip(bytes(side.take(count)), bytes(side.take(count))))
        own_rows = [i for i in range(rows) if not n or i <= twin(i, n)]
        own_columns = [j for j in range(columns) if not m or j <= twin(j, m)]
        S, known = np.zeros((rows, columns)), np.zeros((rows, columns), bool)
        row_size, column_size = np.zeros(columns), np.zeros(rows)

        def visit(i, j, context, p=None):
            if not known[i, j]:
                known[i, j] = True
                values[first + i * columns + j] = next_code(context) + (half_up(S[i, j]) if p is None else p)

        at = lambda i, j: float(values[first + i * columns + j])
        for number, (i, j) in enumerate(pivots):
            visit(i, j, 184 + octaves(before))
            pivot = at(i, j) - S[i, j]
            before = abs(pivot)
            context = lambda w: 112 + octaves(before) if number == 0 else 8 + min(magnitude(w * before), 100)
            for k in own_columns:
                visit(i, k, context(row_size[k]))
            for k in own_rows:
                visit(k, j, context(column_size[k]))
            r = {k: at(i, k) - S[i, k] for k in own_columns}
            c = {k: at(k, j) - S[k, j] for k in own_rows}
            if pivot == 0:
                continue
            for k in own_columns:
                row_size[k] = 0.5 * (row_size[k] + abs(r[k]) / before)
            for k in own_rows:
                column_size[k] = 0.5 * (column_size[k] + abs(c[k]) / before)
                for l in own_columns:
                    S[k, l] += c[k] / pivot * r[l]
        for i in own_rows:
            for j in own_columns:
                visit(i, j, 1)
        for i in range(rows):
            for j in range(columns):
                k, l = min(i, twin(i, n)) if n else i, min(j, twin(j, m)) if m else j
                visit(i, j, 0, values[first + k * columns + l])
    for i in range(size - size % (rows * columns), size):
        values[i] = next_code(1)
    return values


def interp_settings(side, params):
    settings = side.get("B")
    require(settings < 12 or settings < 16 and params["alpha"] > 0, "settings of the interpolation")
    alpha, beta = [(1.0, 1.0), (1.25, 2.0), (1.5, 3.0), (params["alpha"], params["beta"])][settings >> 2]
    return {"cubic": settings & 1, "reverse": settings >> 1 & 1, "alpha": alpha, "beta": beta}


def interp_walk(codes, shape, params, grid_at, dtype, exact):
    """interp before the quantizer: values as bits."""
    C, lowest = number_type(dtype), -(1 << (63 if BYTES[dtype] == 8 else 31))
    shape = shape or [1]
    numbers, bits, done = np.zeros(shape, C), np.zeros(shape, np.uint64), 0
    levels = int(max(shape) - 1).bit_length()

    def visit(index, p, level):
        nonlocal done
        grid = grid_at(level_factor(level, params["alpha"], params["beta"]))
        code = codes[done]
        place = sum(i * n for i, n in zip(index, strides_of(shape)))
        value = exact.get(done, 0) if code == lowest else grid.recover(rounded(p, dtype), code, place)
        bits[index], numbers[index] = value, C(to_number(value, dtype))
        done += 1

    visit((0,) * len(shape), C(0), levels - 1)
    order = list(range(len(shape)))[:: -1 if params["reverse"] else 1]
    for level in range(levels - 1, -1, -1):
        s = 1 << level
        for which, axis in enumerate(order):
            ranges = [None] * len(shape)
            for i, k in enumerate(order):
                ranges[k] = range(s if i == which else 0, shape[k], s if i < which else 2 * s)
            for index in product(*ranges):
                j, n = index[axis], shape[axis]
                at = lambda k: numbers[index[:axis] + (j + k * s,) + index[axis + 1 :]]
                a, c, d = j >= 3 * s, j + s < n, j + 3 * s < n
                b = at(-1)
                if not c:
                    p = C(1.5) * b - C(0.5) * at(-3) if a else b
                elif not params["cubic"] or not (a or d):
                    p = C(0.5) * (b + at(1))
                elif not a:
                    p = C(0.375) * b + (C(0.75) * at(1) - C(0.125) * at(3))
                elif not d:
                    p = C(0.375) * at(1) + (C(0.75) * b - C(0.125) * at(-3))
                else:
                    p = C(0.5625) * (b + at(1)) - C(0.0625) * (at(-3) + at(3))
                visit(index, p, level)
    return [int(v) for v in bits.ravel()]


# ---- pyramid ---------------------------------------------------------------------------------------------------


class LeastSquares:
    """Weights of taps, learned from values already known."""

    def __init__(self, taps, C):
        self.taps, self.C, self.batch, self.since, self.known = taps, C, [], 0, 0.0
        self.weights, self.guess_weight, self.ready = np.zeros(taps, C), C(1), False
        self.sums = np.zeros((taps, taps + 1))

    def inherit(self, other):
        if other.known > 0:
            scale = min(1.0, 512 / other.known)
            self.sums, self.known = other.sums * scale, other.known * scale
            self.weights, self.guess_weight, self.ready = other.weights, other.guess_weight, other.ready

    def apply(self, taps, guess):
        out = guess * self.guess_weight
        for tap, weight in zip(taps, self.weights):
            out = out + tap * weight
        return out

    def sample(self, taps, guess, predicted, values, expected, inverse):
        """Eight values side by side."""
        C = self.C
        usable = lambda d: np.where(np.abs(d) < C(1e6), d, C(0)).astype(C)
        error, e = usable((values - predicted) * inverse), usable(expected.astype(C))
        weight = C(1) / (C(0.5) * error * error + C(4) * e * e + C(0.25))
        plain = np.array([usable((t - guess) * inverse) for t in taps] + [usable((values - guess) * inverse)], C)
        self.batch.append((plain, plain[:-1] * weight))
        if len(self.batch) == 16:
            s = np.zeros((self.taps, self.taps + 1, 8), C)
            for plain, weighted in self.batch:
                s = s + weighted[:, None, :] * plain[None, :, :]
            s = ((s[..., 0] + s[..., 4]) + (s[..., 2] + s[..., 6])) + ((s[..., 1] + s[..., 5]) + (s[..., 3] + s[..., 7]))
            self.sums += s.astype(np.float64)
            self.batch, self.known, self.since = [], self.known + 128, self.since + 128
            if self.since >= 512 and self.known >= 8 * self.taps:
                self.since = 0
                self.solve()
                if self.known > 1536:
                    self.sums, self.known = self.sums * (1536 / self.known), 1536.0

    def solve(self):
        n, a = self.taps, self.sums.copy()
        for r in range(n):
            a[r, r] += 1e-5 * a[r, r] + 1e-4 * self.known
        for r in range(n):
            if not a[r, r] > 0:
                return
            inverse = 1 / a[r, r]
            for s in range(r + 1, n):
                a[s, s:] -= a[r, s] * inverse * a[r, s:]
        x, total = np.zeros(n), 0.0
        for r in range(n - 1, -1, -1):
            s = a[r, n]
            for c in range(r + 1, n):
                s -= a[r, c] * x[c]
            x[r] = s / a[r, r]
        for value in x:
            total += value
        self.weights, self.guess_weight, self.ready = x.astype(self.C), self.C(1 - total), True


def beyond(r0, r1=None, r2=None):
    """The next value of the parabola (line, constant) through known ones, the nearest first."""
    if r1 is None:
        return r0
    return 2 * r0 - r1 if r2 is None else 3 * (r0 - r1) + r2


Run = namedtuple("Run", "here row x count contexts guess predicted taps activity means expected")


class Pyramid:
    def __init__(self, shape, params, side, grid_at, dtype, next_code, segment, exact):
        self.dtype, self.next_code, self.segment, self.exact, self.done = dtype, next_code, segment, exact, 0
        self.grid_at, self.shape = grid_at, shape
        self.C = number_type(dtype)
        frozen, self.tight, self.taps, self.tile = (side.get("B") for _ in range(4))
        side.expect_end()
        require(frozen >> len(shape) == 0 and self.tight <= 2 and self.taps <= 64 and self.tile <= 40, "settings of the pyramid")
        self.every, self.step_size = params["every"], float(grid_at(1.0).step)
        self.active = [k for k in range(len(shape)) if not frozen >> k & 1][-4:]
        self.flat = not self.active
        self.numbers, self.sizes = np.zeros(shape, self.C), np.zeros(shape, np.int64)
        self.bits, self.places = np.zeros(shape, np.uint64), np.arange(int(np.prod(shape, dtype=object))).reshape(shape)
        self.memories = {}  # (open axes, level) or (open axes, level, tile) -> learners, expectations

    def run(self):
        shape, active = self.shape, self.active
        levels = max([(shape[k] - 1).bit_length() for k in active], default=0)
        tiled, worth = min(levels, 2), self.bits.size >= 1 << 17
        cuts = {k: [] for k in active}
        for i, k in enumerate(active):
            edge = 1 << max((self.tile + i) // len(active), 3)
            if self.tile:
                coarse = (shape[k] - 1 >> 2) + 1
                cuts[k] = [c for c in range(edge, shape[k], edge) if c // 4 + max(edge // 8, 2) <= coarse]
        whole = {k: (0, shape[k] - 1, False, False) for k in active}
        coarse = [(levels, whole, True, "top", None)]
        for level in range(levels - 1, tiled - 1, -1):
            coarse.append((level, whole, False, level, level + 1))
        segments = [coarse]
        for level in range(tiled - 1, -1, -1):
            skeleton, tiles = [], []
            for is_open in sorted(product((0, 1), repeat=len(active)), key=lambda o: (sum(o), sum(b << i for i, b in enumerate(o)))):
                choices = []
                for k, o in zip(active, is_open):
                    ends = [0, *cuts[k], shape[k] - 1]
                    between = [(ends[i], ends[i + 1], i > 0, i < len(cuts[k])) for i in range(len(cuts[k]) + 1)]
                    choices.append(between if o else cuts[k])
                for number, pieces in enumerate(product(*choices)):
                    cell = dict(zip(active, pieces))
                    if all(is_open):
                        tiles.append([(level, cell, False, (level, number), (level + 1, number) if level + 1 < tiled else tiled)])
                    elif any(is_open):
                        skeleton.append((level, cell, False, (level, is_open), (level + 1, is_open)))
            segments += ([skeleton] if skeleton else []) + tiles
        for steps in segments:
            if worth:
                self.segment(sum(self.count_of(*step[:3]) for step in steps))
            for step in steps:
                self.walk(*step)
        return [int(v) for v in self.bits.ravel()]

    def count_of(self, level, cell, top):
        """Of the values that a step visits."""
        every, grid = 1, 1
        for k, n in enumerate(self.shape):
            piece = cell.get(k, (0, n - 1, False, False))
            if not isinstance(piece, tuple):
                continue
            extent = (piece[1] - piece[0] >> level) + 1 if k in cell else n
            every *= extent - piece[2] - piece[3]
            grid *= (extent + 1) // 2 - piece[2] - piece[3] if k in cell else n
        return every if top else every - grid

    def walk(self, level, cell, top, memory, coarser):
        self.level, self.top = level, top
        self.memory = self.memories.setdefault(memory, ({}, {}))
        self.coarser = self.memories.get(coarser)
        # The values of the box at the level's stride, frozen axes first.
        place, names = [], []
        for k in range(len(self.shape)):
            piece = cell.get(k, slice(None))
            if isinstance(piece, tuple):
                piece = slice(piece[0], piece[1] + 1, 1 << level)
            place.append(piece)
            if isinstance(piece, slice):
                names.append(k)
        rows = [k for k in names if k in cell] or names[-1:]
        self.frozen = [k for k in names if k not in rows]
        order = [names.index(k) for k in self.frozen + rows]
        view = lambda array: array[tuple(place)].transpose(order) if names else array.reshape(1)
        self.views = [view(a) for a in (self.numbers, self.sizes, self.bits, self.places)]
        self.slices, self.rank = [self.shape[k] for k in self.frozen], max(1, len(rows))
        self.ends = [cell[k][2:] if k in cell else (False, False) for k in rows] or [(False, False)]
        extents = self.views[0].shape[len(self.frozen) :]
        self.classes = [0]
        if not top:
            exists = lambda o: all(n > 1 for k, n in enumerate(extents) if o >> k & 1)
            self.classes = [o for o in sorted(range(1 << self.rank), key=lambda o: (bin(o).count("1"), o)) if exists(o)]
        for self.slice in product(*(range(n) for n in self.slices)):
            for odd in self.classes if top else self.classes[1:]:
                self.part(odd)

    def data(self, where, odd):
        """Numbers, sizes, bits and places of a class in a slice."""
        inside = tuple(slice(None) if self.top else slice(odd >> k & 1, None, 2) for k in range(self.rank))
        return [view[where + inside] for view in self.views]

    def tightening(self, level):
        return level_factor(level, *[(1, 1), (1.25, 2), (1.5, 3)][self.tight])

    def padded(self, array, row, sizes=False):
        """A row with four values on either side."""
        r = array[row]
        if sizes:
            return np.concatenate([[r[0]] * 4, r, [r[-1]] * 4])
        n = len(r)
        left = beyond(*r[:3])
        right = beyond(*r[::-1][:3])
        further = beyond(right, *r[::-1][:2]) if n > 1 else right
        return np.concatenate([[left] * 4, r, [right, further, further, further]]).astype(self.C)

    def part(self, odd):
        extents = self.data(self.slice, odd)[0].shape
        factor = self.tightening(self.level)
        grid, inverse = self.grid_at(factor), self.C(1 / (self.step_size * factor))
        ends = [(0, n) if odd >> k & 1 else (int(low), n - high) for k, (n, (low, high)) in enumerate(zip(extents, self.ends))]
        learner, width = self.learner(odd, extents), ends[-1][1] - ends[-1][0]
        self.by_planes = len(self.active) > 2 and not learner
        most = max(1, 2048 // max(width, 1)) if self.by_planes else 1
        rows = list(product(*(range(*e) for e in ends[:-1])))
        plane = ends[-2][1] - ends[-2][0] if self.rank > 1 else 1
        for first in range(0, len(rows), max(plane, 1)):
            for line in range(first, first + plane, most):
                band = rows[line : min(line + most, first + plane)]
                for x in range(*ends[-1], 2048):
                    runs = [self.prepare(odd, row, x, min(2048, ends[-1][1] - x), inverse, learner) for row in band]
                    for run in runs:
                        self.decode(run, grid)
                    for run in runs:
                        self.learn(run, odd, inverse, learner)

    def prepare(self, odd, row, x, count, inverse, learner):
        C, here = self.C, self.data(self.slice, odd)
        window = lambda padded, shift=0: padded[4 + x + shift : 4 + x + shift + count]
        near, before, guess, activity, axes = [], [], None, np.zeros(count, np.float32), 0
        if odd == 0:
            guess = np.zeros(count, C)
            for choice in range(1, 1 << len(self.slices)):
                back = tuple(i - (choice >> k & 1) for k, i in enumerate(self.slice))
                if min(back) >= 0:
                    other = window(self.padded(self.data(back, 0)[0], row))
                    guess = guess + other if bin(choice).count("1") % 2 else guess - other
        else:
            weighted = []
            for axis in range(self.rank):
                if not odd >> axis & 1:
                    continue
                side = self.data(self.slice, odd ^ 1 << axis)
                if axis + 1 == self.rank:
                    a, b, c, d = (window(self.padded(side[0], row), k) for k in (-1, 0, 1, 2))
                    near += [window(self.padded(side[1], row, True), k) for k in (0, 1)]
                else:
                    j, n = row[axis], side[0].shape[axis]
                    def at(k, what=0):
                        if not 0 <= k < n:
                            return None
                        return window(self.padded(side[what], row[:axis] + (k,) + row[axis + 1 :], what == 1))
                    a, b, c, d = at(j - 1), at(j), at(j + 1), at(j + 2)
                    alone = c is None and a is None
                    c = beyond(b, *(r for r in (a, at(j - 2)) if r is not None)) if c is None else c
                    if a is None:
                        a = b if alone else beyond(b, *(r for r in (c, d) if r is not None))
                    d = beyond(c, b, a) if d is None else d
                    near += [r for r in (at(j, 1), at(j + 1, 1)) if r is not None]
                pair = b + c
                value = C(0.5625) * pair - C(0.0625) * (a + d)
                curve = np.abs(value - C(0.5) * pair)
                act = ((curve + curve) + C(0.25) * np.abs(b - c)) * inverse
                w = (act + act) + C(3)
                w = np.where(w < C(32768), w, C(32768))
                weighted.append((value, act, w * w))
            axes = len(weighted)
            if axes == 1:
                guess, activity = weighted[0][:2]
            else:
                if axes == 2:
                    weights = [weighted[1][2], weighted[0][2]]
                elif axes == 3:
                    wx, wy, wz = (w for _, _, w in weighted)
                    weights = [wy * wz, wx * wz, wx * wy]
                else:
                    weights = [C(1) / w for _, _, w in weighted]
                add = lambda terms: sum(terms[1:], terms[0])
                scale = C(1) / add(weights)
                guess = add([v * w for (v, _, _), w in zip(weighted, weights)]) * scale
                activity = add([a * w for (_, a, _), w in zip(weighted, weights)]) * scale
            activity = activity.astype(np.float32)
        for axis in range(self.rank - 2, -1, -1):
            if row[axis] > 0 and not (self.by_planes and axis == self.rank - 2):
                r = self.padded(here[1], row[:axis] + (row[axis] - 1,) + row[axis + 1 :], True)
                before += [window(r, k) for k in (0, 0, -1, 1)]
        for axis in range(len(self.slices) - 1, -1, -1):
            if self.slice[axis] == 0 or len(near) + len(before) + 3 > 32:
                continue
            for k in (1, 1, 2) if self.slice[axis] > 1 else (1, 1):
                back = self.slice[:axis] + (self.slice[axis] - k,) + self.slice[axis + 1 :]
                before.append(window(self.padded(self.data(back, odd)[1], row, True)))
        f32, zeros = np.float32, np.zeros(count, np.int64)
        sums = [sum(rows, zeros).astype(f32) for rows in (near, before)]
        per = [f32(1) / f32(len(rows)) if rows else f32(0) for rows in (near, before)]
        expectation = self.expectation(odd)
        if expectation[0].ready:
            w = expectation[0].weights
            w = w[0], f32(w[1] * per[0]), f32(w[2] * per[1]), w[3]
        else:
            each = f32(1) / f32(len(near) + len(before)) if near or before else f32(0)
            w = f32(0.2), each, each, f32(0)
        expected = (activity * w[0] + sums[0] * w[1]) + (sums[1] * w[2] + w[3])
        expected = np.where(expected < f32(2**-7), f32(2**-7), expected).astype(f32)
        octave = (expected.view(np.uint32).astype(np.int64) >> 22) - 240
        first = 192 if axes == 0 else 32 * (min(self.level, 2) * 2 + (axes > 1))
        contexts = np.where((octave >= 0) & (octave < 31), octave, 31) + first

        taps, predicted = [], guess
        if learner:
            taps = [self.tap_row(t, row, x, count, guess) for t in learner[2]]
            if learner[0].ready:
                predicted = learner[0].apply(taps, guess)
        means = [s * p for s, p in zip(sums, per)]
        return Run(here, row, x, count, contexts, guess, predicted, taps, activity, means, expected)

    def decode(self, run, grid):
        here = run.here
        for i in range(run.count):
            code = self.next_code(int(run.contexts[i]))
            p = rounded(run.predicted[i], self.dtype)
            lowest = -(1 << (63 if BYTES[self.dtype] == 8 else 31))
            at = run.row + (run.x + i,)
            value = self.exact.get(self.done, 0) if code == lowest else grid.recover(p, code, int(here[3][at]))
            here[2][at], here[1][at] = value, min(255, abs(code))
            here[0][at] = self.C(to_number(value, self.dtype))
            self.done += 1

    def learn(self, run, odd, inverse, learner):
        f32, where = np.float32, slice(run.x, run.x + run.count)
        values, sizes = run.here[0][run.row][where], run.here[1][run.row][where].astype(np.float32)
        if learner:
            for g in self.groups(learner, self.every, run.count):
                learner[0].sample([t[g] for t in run.taps], run.guess[g], run.predicted[g], values[g], run.expected[g], inverse)
        expectation = self.expectation(odd)
        for g in self.groups(expectation, 64 if expectation[0].known >= 1536 else 4, run.count):
            features = [run.activity[g], *(m[g] for m in run.means), np.ones(8, f32)]
            expectation[0].sample(features, np.zeros(8, f32), run.expected[g], sizes[g], run.expected[g], f32(1))

    @staticmethod
    def groups(learner, every, count):
        first = learner[1] * 5 % every
        learner[1] += 1
        return [slice(8 * g, 8 * g + 8) for g in range(first, count // 8, every)]

    def expectation(self, odd):
        if odd not in self.memory[1]:
            self.memory[1][odd] = [LeastSquares(4, np.float32), 0]
            if self.coarser and odd in self.coarser[1]:
                self.memory[1][odd][0].inherit(self.coarser[1][odd][0])
        return self.memory[1][odd]

    def learner(self, odd, extents):
        if self.taps == 0 or extents[-1] < 8 or (odd == 0 and not self.flat) or self.level >= 3:
            return None
        if odd not in self.memory[0]:
            taps = self.taps_near(odd)
            if not taps:
                return None
            learner = [LeastSquares(len(taps), self.C), 0, taps]
            before = self.coarser and self.coarser[0].get(odd)
            if before and len(before[2]) == len(taps):
                learner[0].inherit(before[0])
            self.memory[0][odd] = learner
        return self.memory[0][odd]

    def taps_near(self, odd):
        frozen, taps = len(self.slices), []
        order = self.classes
        reach = 3 if self.rank < 4 else 2
        reach_back = [0 if k < frozen - 3 else 8 if self.flat and frozen == 1 else 2 for k in range(frozen)]
        direction = lambda moves: next((-1 if m < 0 else 1 for m in moves if m), 0)
        for back in product(*(range(-r, r + 1) for r in reach_back)):
            if direction(back) > 0:
                continue
            for move in product(range(-reach, reach + 1), repeat=self.rank):
                other = odd if self.flat else odd ^ sum((m & 1) << k for k, m in enumerate(move))
                if other not in order:
                    continue
                known = direction(back) < 0
                if not known and not self.flat:
                    known = direction(move[:-1]) < 0 if other == odd else order.index(other) < order.index(odd)
                if not known:
                    continue
                distance = 20 * sum(m * m for m in move)
                used = [k for k, m in enumerate(move) if m]
                if direction(back) == 0 and len(used) == 1 and odd >> used[0] & 1:
                    distance = distance * 7 // 20
                distance += 20 * sum(b * b for b in back)
                shift = move if self.flat else [(m + (odd >> k & 1) - (other >> k & 1)) // 2 for k, m in enumerate(move)]
                taps.append((distance, other, tuple(shift), back))
        return sorted(taps, key=lambda t: t[0])[: self.taps]

    def tap_row(self, tap, row, x, count, guess):
        _, other, shift, back = tap
        where = tuple(i + b for i, b in zip(self.slice, back))
        if any(not 0 <= i < n for i, n in zip(where, self.slices)):
            return guess
        array = self.data(where, other)[0]
        at = tuple(i + s for i, s in zip(row, shift))
        if any(not 0 <= i < n for i, n in zip(at, array.shape)):
            return guess
        return self.padded(array, at)[4 + x + shift[-1] : 4 + x + shift[-1] + count]


# ---- the stream ----------------------------------------------------------------------------------------------------


WAVELET_TAPS = ((150 / 256, -25 / 256, 3 / 256), (1225 / 2048, -245 / 2048, 49 / 2048, -5 / 2048))
WAVELET_NORMS = (
    ((1.30613692, 1.84044288, 2.60255324, 3.68055962, 5.20509717, 7.36111901, 10.4101943, 14.722238, 20.8203887, 29.444476, 41.6407773, 58.8889521),
     (0.791282589, 0.973918714, 1.36804604, 1.9343962, 2.73564039, 3.86877951, 5.47128045, 7.73755901, 10.9425609, 15.475118, 21.8851218, 30.950236)),
    ((1.32111041, 1.86578884, 2.63859679, 3.73153911, 5.27719321, 7.46307821, 10.5543864, 14.9261564, 21.1087728, 29.8523128, 42.2175457, 59.7046257),
     (0.78039109, 0.978735738, 1.38065465, 1.95250333, 2.76125634, 3.90500617, 5.52251269, 7.81001234, 11.0450254, 15.6200247, 22.0900507, 31.2400494)))
WAVELET_WEIGHTS = (19, 0, 19, 12, 8, 8, 19, 1)


class Wavelet:
    """Codes of bands to values, relative to the middle."""

    def __init__(self, shape, side, C):
        head = side.get("B")
        self.shape, self.rank, self.C = shape, len(shape), C
        self.filter, self.order = head & 1, head >> 1
        require(self.order <= 2, "order of a wavelet")
        self.depth = [side.get("B") for _ in shape]
        self.lengths = []
        for extent, depth in zip(shape, self.depth):
            lengths = [extent]
            for _ in range(depth):
                require(lengths[-1] >= 2 and depth <= 12, "depth of a wavelet")
                lengths.append((lengths[-1] + 1) // 2)
            self.lengths.append(lengths)
        active = [k for k, depth in enumerate(self.depth) if depth]
        require(len(active) <= 4, "axes of a wavelet")
        alone = {0: 0, 1: 1, 2: len(active)}[self.order]
        self.groups = [[k] for k in active[:alone]] + ([active[alone:]] if active[alone:] else [])
        self.halvings, parts = [], [((0,) * self.rank, 0)]
        for group in self.groups:
            inside = self.halve(group)
            parts = [(tuple(a + b for a, b in zip(depth, more)), high | also) for depth, high in parts for more, also in inside]
        self.bands = sorted((band for band in parts if all(self.extents(band))), key=lambda band: -sum(band[0]))
        self.weights = {}
        for depth, high in self.bands:
            level = self.level(depth, high)
            if high and (level, high) not in self.weights:
                sent = side.get("B")
                require(sent <= 1, "weights of a wavelet")
                self.weights[level, high] = [side.get("b") for _ in range(8)] if sent else None

    def halve(self, group):
        """The bands that a group of axes falls into, from coarse to fine; notes the halvings."""
        deepest = max(self.depth[k] for k in group)
        for level in range(deepest):
            for axis in reversed(group):
                if level < self.depth[axis]:
                    self.halvings.append((axis, [self.lengths[k][min(level, self.depth[k])] if k in group else n for k, n in enumerate(self.shape)]))
        parts = [(tuple(d if k in group else 0 for k, d in enumerate(self.depth)), 0)]
        for level in reversed(range(deepest)):
            sets = [s for s in range(1, 1 << self.rank) if all(k in group and level < self.depth[k] for k in range(self.rank) if s >> k & 1)]
            depth = tuple(min(level + 1, d) if k in group else 0 for k, d in enumerate(self.depth))
            parts += [(depth, s) for s in sorted(sets, key=lambda s: (bin(s).count("1"), s))]
        return parts

    def extents(self, band):
        depth, high = band
        means = [self.lengths[k][d] for k, d in enumerate(depth)]
        return [self.lengths[k][d - 1] - n if high >> k & 1 else n for k, (d, n) in enumerate(zip(depth, means))]

    def place(self, band):
        depth, high = band
        first = [self.lengths[k][d] if high >> k & 1 else 0 for k, d in enumerate(depth)]
        return tuple(slice(f, f + n) for f, n in zip(first, self.extents(band)))

    @staticmethod
    def level(depth, high):
        return min([2] + [d - 1 for k, d in enumerate(depth) if high >> k & 1])

    def step(self, band, step):
        norm = 1.0
        for k, d in enumerate(band[0]):
            if d:
                norm *= WAVELET_NORMS[self.filter][band[1] >> k & 1][d - 1]
        return self.C(step / norm)

    def parents(self, band):
        """Coarser bands over the same place: of the last groups of axes, at most two."""
        depth, high = band
        found = []
        for group in self.groups:
            level, coarser = max(depth[k] for k in group), list(depth)
            for k in group:
                coarser[k] = min(level + 1, self.depth[k])
            if any(high >> k & 1 for k in group) and all(coarser[k] > depth[k] for k in group if high >> k & 1):
                parent = (tuple(coarser), high)
                if parent in self.bands:
                    found.insert(0, (parent, [c - d for c, d in zip(coarser, depth)]))
        return found[:2]

    def decode(self, step, next_code, width):
        C, values = self.C, np.zeros(self.shape, self.C)
        sizes = {}
        means = np.array([next_code(192) for _ in range(math.prod(self.extents(self.bands[0])))], object).reshape(self.extents(self.bands[0]))
        for axis in range(self.rank):
            means = np.add.accumulate(means, axis)
        codes = np.array([signed(v, width) for v in means.ravel()], np.int64).reshape(means.shape)
        values[self.place(self.bands[0])] = codes.astype(C) * self.step(self.bands[0], step)
        for number, band in enumerate(self.bands[1:], 1):
            extents, parents = self.extents(band), self.parents(band)
            siblings = [b for b in self.bands[1:number] if b[0] == band[0]]
            level = self.level(*band)
            sent = [self.weights.get((l, band[1])) for l in range(level, 3)]
            weights = next((w for w in sent if w), WAVELET_WEIGHTS)
            first = 64 * level + (32 if bin(band[1]).count("1") > 1 else 0)
            own = sizes[band] = np.zeros(extents, np.int64)
            codes = np.zeros(extents, np.int64)
            for index in product(*(range(n) for n in extents[:-1])):
                row = self.contexts(band, index, sizes, parents, siblings, weights, first)
                codes[index] = [next_code(int(c)) for c in row]
                own[index] = np.minimum(np.abs(codes[index]), 255)
            values[self.place(band)] = codes.astype(C) * self.step(band, step)
        for axis, extents in reversed(self.halvings):
            box = tuple(slice(0, n) for n in extents)
            values[box] = np.moveaxis(self.join(np.moveaxis(values[box], axis, 0)), 0, axis)
        return values

    @staticmethod
    def at(sizes, index):
        return sizes[tuple(min(max(i, 0), n - 1) for i, n in zip(index, sizes.shape))]

    def cross(self, sizes, index, columns):
        """Four times a size, and those around, along a row."""
        last = sizes.shape[-1] - 1
        x = lambda move: np.clip(np.minimum(columns, last) + move, 0, last)
        clipped = [min(i, n - 1) for i, n in zip(index, sizes.shape)]
        rows = [clipped[:-1] + [clipped[-1] + move] if clipped else [] for move in (0, -1, 1)]
        same, up, down = (self.at(sizes, row) if row else sizes for row in rows)
        return 4 * same[x(0)] + same[x(-1)] + same[x(1)] + up[x(0)] + down[x(0)]

    def contexts(self, band, index, sizes, parents, siblings, weights, first):
        own = sizes[band]
        columns = np.arange(own.shape[-1])
        expected = np.full(len(columns), 64 * weights[7], np.int64)
        before = lambda axis, n: index[:axis] + (index[axis] - n,) + index[axis + 1:]
        if self.rank >= 2 and index[-1] > 0:
            row = own[before(len(index) - 1, 1)]
            x = lambda move: np.clip(columns + move, 0, len(columns) - 1)
            expected += weights[0] * (4 * row + 2 * (row[x(-1)] + row[x(1)]))
            if index[-1] > 1:
                expected += weights[1] * 8 * own[before(len(index) - 1, 2)]
        for back in (3, 4):
            if self.rank >= back and index[-(back - 1)] > 0:
                expected += weights[back - 1] * self.cross(own, before(self.rank - back, 1), columns)
        for k, (parent, shift) in enumerate(parents):
            expected += weights[4 + k] * self.cross(sizes[parent], tuple(i >> s for i, s in zip(index, shift)), columns >> shift[-1])
        if siblings:
            total = sum(self.cross(sizes[s], index, columns) for s in siblings)
            expected += weights[6] * (total if len(siblings) == 1 else total * (65536 // len(siblings)) >> 16)
        octave = np.maximum(expected, 4).astype(np.float32).view(np.uint32) >> 22
        return first + np.minimum(octave.astype(np.int64) - (0x40800000 >> 22), 31)

    def join(self, halves):
        """Means, then differences, along the first axis: to values."""
        C, n = self.C, len(halves)
        evens = (n + 1) // 2
        even, odd = halves[:evens].copy(), halves[evens:].copy()
        taps = WAVELET_TAPS[self.filter]

        def at(half, parity, rows):
            places = 2 * rows + parity
            places = np.abs((places + n - 1) % (2 * n - 2) - (n - 1)) if n > 1 else places * 0
            return half[places // 2]

        def total(half, parity, rows, scale):
            low, high = (rows - 1, rows) if parity else (rows, rows + 1)
            result = C(taps[0] * scale) * (at(half, parity, low) + at(half, parity, high))
            for k, tap in enumerate(taps[1:], 1):
                result = result + C(tap * scale) * (at(half, parity, low - k) + at(half, parity, high + k))
            return result

        even = even - total(odd, 1, np.arange(evens), 0.5)
        odd = odd + total(even, 0, np.arange(n - evens), 1)
        values = np.empty_like(halves)
        values[0::2], values[1::2] = even, odd
        return values


def wavelet_values(reader, side, shape, dtype, size, width, bound, decoder):
    shape = shape or [1]
    form, step, middle = side.get("B"), side.get("d"), side.get("d")
    require(form <= 3 and 0 < step <= sys.float_info.max and abs(middle) <= sys.float_info.max, "form of a transform")
    low, high = (int.from_bytes(bytes(side.take(BYTES[dtype])), "little") for _ in range(2))
    lowest, highest = (float(to_number(bits, dtype)) for bits in (low, high))
    require(lowest <= highest, "range of a transform")
    wavelet = Wavelet(list(shape), side, np.float64 if form & 1 else np.float32)
    if decoder is None:
        next_code = Rans(reader, size, width).next
    else:
        codes = iter(decoder(reader, size, width))
        next_code = lambda context: next(codes)
    with np.errstate(all="ignore"):
        relative = wavelet.decode(step, next_code, width)
    reader.expect_end()

    def value(v):
        if not v > lowest:
            return low
        if not v < highest:
            return high
        if dtype in FLOATS:
            return to_bits(v, dtype)
        down = math.floor(v)
        rounded_v = down if v - down < 0.5 else down + 1
        return to_bits(rounded_v, dtype) if float(rounded_v) < highest else high

    with np.errstate(all="ignore"):
        values = [value(v + middle) for v in relative.astype(np.float64).ravel().tolist()]
    if form & 2:
        repair(values, side, shape, dtype, size, width, bound)
    side.expect_end()
    return values


def repair(values, side, shape, dtype, size, width, bound):
    source, row = Rans(side, size, width), shape[-1]
    plane = row * shape[-2] if len(shape) > 1 else row
    sizes = np.zeros(plane + size + row + 2, np.int64)  # after as many zeros as a plane has, and one
    origin, mask = plane + 1, (1 << 8 * BYTES[dtype]) - 1
    step = 2 * bound * (1 - 2.0**-12) if dtype in FLOATS else 2 * int(bound) + 1 if bound < 2.0**60 else 1 << 61
    for first, count in ((y + x, min(2048, row - x)) for y in range(0, size, row) for x in range(0, row, 2048)):
        at = origin + first
        before = at - row
        near = 2 * sizes[before : before + count] + sizes[before - 1 : before + count - 1] + sizes[before + 1 : before + count + 1]
        if len(shape) > 2:
            near = near + 2 * sizes[at - plane : at - plane + count]
        for x, context in enumerate(np.minimum(near, 15).tolist()):
            code = source.next(context)
            sizes[at + x] = min(abs(code), 3)
            if code == 0:
                continue
            number = to_number(values[first + x], dtype)
            if dtype in FLOATS:
                values[first + x] = to_bits(float(number) + float(code) * step, dtype)
            else:
                values[first + x] = (int(number) + code * step) & mask


def parse_recipe(text):
    require(len(text) <= 1024, "a recipe that is too long")
    stages = []
    for part in text.split("+"):
        name, _, rest = part.partition(":")
        require(name in DEFAULTS, "unknown stage " + name)
        params = dict(DEFAULTS[name])
        for assignment in rest.split(",") if rest else []:
            key, value = assignment.split("=")
            params[key] = type(params[key])(value) if key in params else int(value)
        stages.append((name, params))
    for kind in (PREPROCESSORS, LOSSLESS):
        require(sum(name in kind for name, _ in stages) <= 4, "too many stages")
    return stages


def decode_body(body, recipe, dtype, shape, bound, narrow=False):
    stages = parse_recipe(recipe)
    names = [name for name, _ in stages]
    for name, params in reversed([stage for stage in stages if stage[0] in LOSSLESS]):
        unmix = {"shuffle": unshuffle, "bitshuffle": unshuffle_bits}.get(name)
        body = unmix(body, params["bytes"]) if unmix else {"zstd": zstd, "deflate": inflate, "gzip": gunzip, "lz4": lz4, "store": bytes}[name](body)
    reader, size, width = Reader(body), int(np.prod(shape, dtype=object)), 16 if narrow else 64 if BYTES[dtype] == 8 else 32
    mask = read_patches(reader.section(), dtype, size)
    undo = []  # in the order of the recipe
    for name, params in stages:
        if name == "dft":
            reader.section().expect_end()
            undo.append(lambda values, shape=shape, params=params: undo_dft(values, shape, params, dtype))
        elif name == "log":
            log, bound = read_log(reader.section(), dtype, size), log_bound(bound, dtype)
            undo.append(lambda values, log=log: undo_log(values, *log, dtype))
        elif name == "reshape":
            side, kept = reader.section(), params["axes"]
            require([side.varint() for _ in range(side.get("B"))] == list(shape), "another shape")
            side.expect_end()
            if len(shape) > kept:
                parts = [shape[: kept - 1], shape[kept - 1 :]] if params["merge"] == "last" else [shape[: len(shape) - kept + 1], shape[len(shape) - kept + 1 :]]
                one = int(np.prod(parts[params["merge"] == "last"], dtype=object))
                shape = [*parts[0], one] if params["merge"] == "last" else [one, *parts[1]]
        elif name == "linearize":
            side, columns = reader.section(), shape[-1] if len(shape) > 1 and size and shape[-1] <= 8 else 1
            points = size // columns
            bits, each = Bits(side.take((points * (max(points, 1) - 1).bit_length() + 7) // 8)), (max(points, 1) - 1).bit_length()
            order = [bits.get(each) for _ in range(points)]
            side.expect_end()
            require(sorted(order) == list(range(points)), "no order of points")
            undo.append(lambda values, order=order, columns=columns: undo_linearize(values, order, columns))
        elif name == "transpose":
            axes = list(bytes(reader.section().rest()))
            require(sorted(axes) == list(range(len(shape))), "no order of axes")
            back, inner = np.argsort(axes), [shape[axis] for axis in axes]
            undo.append(lambda values, back=back, inner=inner: values.__setitem__(
                slice(None), np.array(values, object).reshape(inner).transpose(back).ravel().tolist()))
            shape = inner
    values = decode_values(reader, stages, names, dtype, shape, size, width, bound)
    for step in reversed(undo):
        step(values)
    apply_patches(mask, values)
    return values


def read_plane(reader, count):
    kind = reader.get("B")
    require(kind <= 2, "unknown kind of plane")
    if kind == 2:
        bits = Bits(reader.take((count + 7) // 8))
        return [bits.get(1) for _ in range(count)]
    plane = [0] * count if kind == 0 else []
    while len(plane) < count:
        plane += [0] * reader.varint()
        plane += [1] * (reader.varint() if len(plane) < count else 0)
    require(len(plane) == count, "runs too long")
    return plane


def read_log(reader, dtype, size):
    negative, apart = read_plane(reader, size), read_plane(reader, size)
    other = read_plane(reader, sum(apart))
    kept = [int.from_bytes(reader.take(BYTES[dtype]), "little") if flag else 0 for flag in other]
    reader.expect_end()
    return negative, apart, kept


def log_bound(bound, dtype):
    m, n = np.frexp(1 + min(bound, 1e6))
    m, n = float(m) * 2, int(n) - 1
    if m > float.fromhex("0x1.6a09e667f3bcdp0"):
        m, n = m / 2, n + 1
    s = (m - 1) / (m + 1)
    z, w = s * s, 0.0
    for k in range(21, 0, -2):
        w = w * z + 1.0 / k
    rounding = 2.0 ** (7 - {"f32": 24, "f64": 53, "f16": 11, "bf16": 8}[dtype])
    return (n + s * w * float.fromhex("0x1.71547652b82fep1")) * (1 - 2.0**-20) - rounding


def undo_dft(values, shape, params, dtype):
    def cosine(x):
        x -= 2 * math.floor(x / 2)
        x = 2 - x if x > 1 else x
        t, s = (1 - x if x > 0.5 else x) * float.fromhex("0x1.921fb54442d18p1"), 0.0
        for k in range(22, -1, -2):
            s = 1 - s * t * t / ((k + 1) * (k + 2))
        return -s if x > 0.5 else s

    def wave(k, i, n):
        if params["waves"] == "cosine":
            return math.sqrt((1.0 if k == 0 else 2.0) / n) * cosine(k * (i + 0.5) / n)
        periods = (k + 1) // 2
        angle = 2 * (periods * i % n) / n
        return math.sqrt((1.0 if k == 0 or 2 * periods == n else 2.0) / n) * cosine(abs(angle - 0.5) if k > 0 and k % 2 == 0 else angle)

    weights = lambda n: [[wave(k, i, n) for i in range(n)] for k in range(n)]
    array = np.array([float(to_number(bits, dtype)) for bits in values]).reshape(shape)
    for axis in reversed(range(len(shape))):
        n = shape[axis]
        m = min(params["block"], n)
        lines, out, count = np.moveaxis(array, axis, 0), np.zeros([n, *np.delete(shape, axis)]), n // m
        for width, begin, starts in ((m, 0, count), (n % m, count * m, 1)):
            w = weights(width) if width else []
            for b in range(starts):
                for i in range(width):
                    for k in range(width):
                        out[begin + b * m + i] = out[begin + b * m + i] + w[k][i] * lines[begin + k * starts + b]
        array = np.moveaxis(out, 0, axis)
    values[:] = [to_bits(float(x * (1 / 3.5)), dtype) for x in array.ravel()]


def undo_linearize(values, order, columns):
    points = [values[i * columns : (i + 1) * columns] for i in range(len(order))]
    for number, point in zip(order, points):
        values[number * columns : (number + 1) * columns] = point


def undo_log(values, negative, apart, kept, dtype):
    kept = iter(kept)
    for i, bits in enumerate(values):
        if apart[i]:
            values[i] = next(kept)
            continue
        y = float(to_number(bits, dtype))
        power = 0.0
        if abs(y) < 1100:
            n = float(np.rint(y))
            t, power = (y - n) * float.fromhex("0x1.62e42fefa39efp-1"), 0.0
            for k in range(14, -1, -1):
                power = power * t + 1 / math.factorial(k)
            power = float(np.ldexp(power, int(n)))
        values[i] = to_bits(-power if negative[i] else power, dtype)


def read_planes(side, radius, size, width):
    """Codes set apart (planes.md)."""
    count = side.varint()
    require(count <= size, "more codes set apart than there are")
    if count == 0:
        return []
    planes, length = side.get("B"), (count + 7) // 8
    require(planes < width, "too many planes")
    rows = [int.from_bytes(side.take(length), "little") for _ in range(planes + 1)]
    sizes = [radius + sum((row >> i & 1) << planes - 1 - k for k, row in enumerate(rows[1:])) for i in range(count)]
    return [-n if rows[0] >> i & 1 else n for i, n in enumerate(sizes)]


def decode_values(reader, stages, names, dtype, shape, size, width, bound):
    notes = bytes(reader.section().rest())
    side = Reader(zstd(notes) if notes else b"")
    exact = read_patches(reader.section(), dtype, size)
    encoder = next((n for n in names if n in ENCODERS), "raw")
    decoder = {"huffman": huffman, "adaptive": adaptive, "rans": rans, "pack": pack, "fixed": fixed, "raw": raw_codes, "fixed-huffman": fixed_huffman, "arithmetic": arithmetic,
               "residual": residual}[encoder]
    quantizer = next((n for n in names if n in QUANTIZERS), None)
    joined = plain = lambda codes: codes
    if quantizer == "linear" and dict(stages)["linear"]["beyond"] == "planes":
        radius = max(dict(stages)["linear"]["bins"] // 2, 1)
        apart = iter(read_planes(side, radius, size, width))
        joined = lambda codes: [next(apart) if q == radius else q for q in codes]
        decoder = lambda *a, near=decoder: joined(near(*a))
    if quantizer == "elementwise":
        classes = [side.get("d") for _ in range(side.get("B"))]
        require(len(classes) <= 121 and all(0 <= e < bound for e in classes), "bounds of classes")
        of_value = bytes(side.take(size)) if classes else b""
        require(not of_value or max(of_value) <= len(classes), "a class without a bound")
        grid_at = lambda factor: Elementwise(dtype, bound * factor, [c * factor for c in classes], of_value)
    else:
        kept_in = None
        if quantizer == "linear" and dict(stages)["linear"]["range"]:
            kept_in = [int.from_bytes(side.take(BYTES[dtype]), "little") for _ in range(2)]
            require(to_number(kept_in[0], dtype) <= to_number(kept_in[1], dtype), "a range that begins above its end")

        def grid_at(factor):
            grid = {"linear": Linear, "logscale": Logscale, "truncate": Truncate, "exact": Exact}[quantizer or "exact"](dtype, bound * factor, dict(stages).get(quantizer))
            grid.range = kept_in
            return grid

    grid, predictor = grid_at(1.0), next((n for n in names if n in PREDICTORS), None)
    if predictor == "wavelet":
        values = wavelet_values(reader, side, shape, dtype, size, width, bound, None if encoder == "rans" else lambda *a: decoder(*a, dict(stages).get(encoder, {})))
        apply_patches(exact, values)
        return values
    if predictor == "pyramid":
        if encoder == "rans":
            source = Rans(reader, size, width)
            next_code = lambda context: joined([source.next(context)])[0]
            segment = source.segment if quantizer != "linear" or dict(stages)["linear"]["beyond"] != "planes" else lambda count: None
        else:
            codes = iter(decoder(reader, size, width, dict(stages).get(encoder, {})))
            next_code, segment = lambda context: next(codes), lambda count: None
        patches = {first + i: bits for first, count, bits in exact for i in range(count)}
        with np.errstate(all="ignore"):
            values = Pyramid(shape, dict(stages)[predictor], side, grid_at, dtype, next_code, segment, patches).run()
        reader.expect_end()
        return values
    if predictor in WALKERS and not (quantizer and names.index(predictor) < names.index(quantizer)):
        # after the quantizer: the walk is over its codes, without loss
        integer = "i64" if width == 64 else "i32"
        patches = side.section()
        far = {first + i: bits for first, count, bits in (read_list(patches, integer, size) if len(patches.data) else []) for i in range(count)}
        whole = lambda e: Linear(integer, 0.0, DEFAULTS["linear"])
        params = dict(stages)[predictor]
        if predictor == "cross":
            source = Rans(reader, size, width) if encoder == "rans" else iter(decoder(reader, size, width, dict(stages).get(encoder, {})))
            integers = cross_walk((lambda context: joined([source.next(context)])[0]) if encoder == "rans" else lambda context: next(source), size, params, side)
        else:
            walked = decoder(reader, size, width, dict(stages).get(encoder, {}))
            with np.errstate(all="ignore"):
                if predictor == "lag":
                    integers = [signed(v, width) for v in lag_walk(walked, shape, params["frames"], whole(0), integer, far, -(1 << width - 1))]
                elif predictor == "pattern":
                    integers = pattern_walk(walked, side)
                elif predictor == "interp":
                    integers = [signed(v, width) for v in (interp_walk(walked, shape, interp_settings(side, params), whole, integer, far) if size else [])]
                else:
                    integers = [signed(v, width) for v in composite_walk(walked, shape, params, whole(0), integer, far, -(1 << width - 1), side)]
        reader.expect_end()
        side.expect_end()
        values = [grid.recover(0.0 if dtype in FLOATS else None, q) for q in integers]
        apply_patches(exact, values)
        return values
    if encoder == "rans" and predictor == "lorenzo" and joined is plain and (quantizer is None or names.index(quantizer) < names.index(predictor)):
        codes = causal_codes(reader, shape, size, width)
    else:
        codes = decoder(reader, size, width, dict(stages).get(encoder, {}))
    reader.expect_end()
    values = [0] * size
    if predictor == "interp":
        settings = interp_settings(side, dict(stages)[predictor])
        side.expect_end()
        patches = {first + i: bits for first, count, bits in exact for i in range(count)}
        with np.errstate(all="ignore"):
            values = interp_walk(codes, shape, settings, grid_at, dtype, patches) if size else []
    elif predictor == "wavefront":
        side.expect_end()
        patches = {first + i: bits for first, count, bits in exact for i in range(count)}
        with np.errstate(all="ignore"):
            values = wavefront_walk(codes, shape, dict(stages)[predictor], grid, dtype, patches, -(1 << width - 1))
    elif predictor == "lag":
        side.expect_end()
        patches = {first + i: bits for first, count, bits in exact for i in range(count)}
        with np.errstate(all="ignore"):
            values = lag_walk(codes, shape, dict(stages)[predictor]["frames"], grid, dtype, patches, -(1 << width - 1))
    elif predictor in ("composite", "regression"):
        patches = {first + i: bits for first, count, bits in exact for i in range(count)}
        with np.errstate(all="ignore"):
            values = composite_walk(codes, shape, dict(stages)[predictor], grid, dtype, patches, -(1 << width - 1), side)
        side.expect_end()
    elif predictor == "pattern":
        patches = {first + i: bits for first, count, bits in exact for i in range(count)}
        predict = lambda i, p: patches.get(i, 0) if codes[i] == -(1 << width - 1) else grid.recover(as_prediction(rounded(p, dtype), dtype), codes[i], i)
        with np.errstate(all="ignore"):
            values = pattern_of_values(size, side, dtype, predict)
        side.expect_end()
    elif predictor == "ghost":
        patches = {first + i: bits for first, count, bits in exact for i in range(count)}
        with np.errstate(all="ignore"):
            values = ghost_walk(codes, shape, dict(stages)[predictor], grid, dtype, patches, -(1 << width - 1), side)
        side.expect_end()
    elif predictor and quantizer and names.index(predictor) < names.index(quantizer):
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
        values = [grid.recover(0.0 if dtype in FLOATS else None, q) for q in codes]
        apply_patches(exact, values)
    return values


def read_header(reader):
    require(bytes(reader.take(8)) == b"\x89LWY\r\n\x1a\n", "not a leeway stream")
    require(reader.get("H") == 1 and reader.get("H") == 0, "unknown version")
    size = reader.get("I")
    fields, header = Reader(reader.take(size)), {"fills": []}
    require(reader.get("Q") == hash_of(reader.data[: 16 + size]), "header checksum")
    require(size % 16 == 8, "a header that does not end at a multiple of 16")
    while len(fields.data) - fields.at >= 16 or any(fields.data[fields.at :]):
        tag, reserved, content = fields.get("H"), fields.get("H"), Reader(fields.take(fields.get("I")))
        require(reserved == 0, "a reserved field is used")
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
            text = bytes(content.rest())
            require(len(text) != 1 or text[0] < len(RECIPES), "unknown recipe")
            header["recipe"] = RECIPES[text[0]] if len(text) == 1 else text.decode("ascii")
        elif tag & 0x7FFF == 6:
            header["fills"] = list(struct.iter_unpack("<Q", content.rest()))
        elif tag & 0x7FFF == 7:
            while content.at < len(content.data):
                region = extents()
                header.setdefault("regions", []).append((region, [content.get("Q") for _ in region], content.get("d")))
        elif tag & 0x7FFF == 8:
            require(content.get("B") == 0, "growth along another axis")
            header["growing"] = hash_of(reader.data[: 16 + size])
        elif tag & 0x7FFF == 9:
            text = lambda: bytes(content.take(content.varint())).decode("utf-8")
            header["variable"], header["promises"] = text(), []
            while content.at < len(content.data):
                promise, bound, reached = text(), content.get("d"), content.get("d")
                require(0 <= reached <= bound < float("inf") and len(promise) <= 1024, "an impossible promise")
                header["promises"].append((promise, bound, reached))
            require(1 <= len(header["promises"]) <= 64, "no promises, or too many")
        else:
            require(not tag & 0x8000, "unknown critical field")
            continue
        content.expect_end()
    require("growing" not in header or header["shape"][:1] == [0], "the header says how far a growing array reaches")
    return header


def decode_chunk(reader, ordinal, header, shape):
    head = reader.take(64)
    frame = Reader(head)
    require(bytes(frame.take(4)) == b"LWYc", "no frame")
    size, number, special, exact, bound, error, decoded_hash, payload_hash, head_hash = (frame.get(k) for k in "IQIIddQQQ")
    require(number == ordinal and head_hash == hash_of(head[:56]), "damaged frame")
    payload = reader.take(size)
    require(not any(reader.take(-size % 16)), "bytes between two chunks")
    require(payload_hash == hash_of(payload), "damaged payload")
    require(error <= bound or any(kind == 8 for kind, _ in header["bound"]), "an error above the bound")
    return checked_values(payload, header, shape, bound, decoded_hash), (error, special, exact, decoded_hash)


def checked_values(payload, header, shape, bound, decoded_hash):
    squeezed = [n for n in shape if n != 1]
    values = decode_layers(payload[1:], header, squeezed, bound) if payload[0] == 7 else decode_payload(payload, header, squeezed, bound)
    require(hash_of(values) == decoded_hash, "decoded values differ")
    return values


def decode_layers(payload, header, shape, bound):
    reader, width, size = Reader(payload), BYTES[header["dtype"]], int(np.prod(shape, dtype=object))
    values = np.frombuffer(decode_payload(reader.section().data, header, shape, bound), np.uint8).reshape(shape + [width]).copy()
    layers = reader.varint()
    require(1 <= layers <= 64, "wrong number of layers")
    for _ in range(layers):
        box = []
        for n in shape:
            first, extent = reader.varint(), reader.varint()
            require(extent > 0 and first + extent <= n, "a layer outside its chunk")
            box.append(slice(first, first + extent))
        extents, covers = [b.stop - b.start for b in box], reader.get("B")
        volume = int(np.prod(extents, dtype=object))
        size -= volume / 4
        require(covers <= 2 and size >= 0, "layers that are not allowed")
        marked = np.ones(extents, bool)
        if covers > 0:
            bits = np.unpackbits(np.frombuffer(zstd(bytes(reader.section().rest())), np.uint8), bitorder="little")
            require(len(bits) == -(-volume // 8) * 8 and not bits[volume:].any() and bits.any(), "marks")
            marked = bits[:volume].astype(bool).reshape(extents)
        over = [int(marked.sum())] if covers == 2 else extents
        new = decode_payload(reader.section().data, header, [n for n in over if n != 1], bound)
        new = np.frombuffer(new, np.uint8).reshape(over + [width])
        values[tuple(box)][marked] = new if covers == 2 else new[marked]
    reader.expect_end()
    return values.tobytes()


def decode_payload(payload, header, squeezed, bound):
    dtype, width, count = header["dtype"], BYTES[header["dtype"]], int(np.prod(squeezed, dtype=object))
    kind, rest = payload[0], payload[1:]
    if kind == 0:
        values = bytes(rest) * count
    elif kind == 3:
        values = bytes(rest)
    else:
        alternatives, number = header["recipe"].split("|"), 0
        require(len(alternatives) <= 8, "too many alternatives")
        if kind == 8:  # by another alternative of the recipe
            number, kind, rest = rest[0], rest[1], rest[2:]
            require(1 <= number < len(alternatives) and kind in (1, 4, 5, 6), "no such alternative")
        require(kind in (1, 2, 4, 5, 6), "unknown payload")
        if kind == 5:  # a smaller bound
            require(1 <= rest[0] <= 3, "a bound made too small")
            bound, rest = bound / 2 ** rest[0], rest[1:]
        if kind == 4:  # how much of the body holds which levels
            table, rest = rest[1 : 1 + 12 * rest[0]], rest[1 + 12 * rest[0] :]
            require(1 <= len(table) // 12 <= 4, "a wrong number of levels")
            for bytes_, hash_ in struct.iter_unpack("<IQ", table):
                require(bytes_ <= len(rest) and hash_of(rest[:bytes_]) == hash_, "damaged level")
        recipe = alternatives[number] if kind != 2 else "exact+lorenzo+huffman+zstd"
        bits = decode_body(bytes(rest), recipe, dtype, squeezed, bound, narrow=kind == 6)
        values = b"".join(b.to_bytes(width, "little") for b in bits)
    require(len(values) == count * width, "wrong number of values")
    return values


def frame_bytes(payload):
    """A frame ends with zeros, where the next one may begin."""
    return 64 + payload + -payload % 16


def last_end(data, first_frame, header):
    """Where the stream ends. An interrupted update leaves bytes after the last whole tail, and so does an append."""
    ended = data[-8:] == b"LWYend\r\n"
    size = struct.unpack_from("<Q", data, len(data) - 16)[0] if ended else 0
    if first_frame <= len(data) - size and tail_bytes(data[len(data) - size :], header) == size > 0:
        return len(data)
    at, end = first_frame, 0
    while True:
        head, tail = data[at : at + 64], tail_bytes(data[at:], header)
        if len(head) == 64 and head[:4] == b"LWYc" and hash_of(head[:56]) == struct.unpack_from("<Q", head, 56)[0] \
                and at + frame_bytes(struct.unpack_from("<I", head, 4)[0]) <= len(data):
            at += frame_bytes(struct.unpack_from("<I", head, 4)[0])
        elif tail and data[at + tail - 8 : at + tail] == b"LWYend\r\n":
            end = at = at + tail
        else:
            break
    rest = bytes(data[at:])
    begun = rest[:4] == b"LWYc"[: len(rest)] or rest[:64] == bytes(64)
    if "growing" in header:
        begun = not ended if not tail else tail > len(rest) or not any(rest[tail - 8 : tail])
    elif at > end:
        begun |= not any(rest) or (rest[:4] == b"LWYt"[: len(rest)] and not ended if not tail or tail > len(rest) else not any(rest[tail - 8 : tail]))
    require(end > 0 and begun, "no end")
    return end


def grid_of(header):
    return [-(-n // c) for n, c in zip(header["shape"], header["chunk"])]


def begin_tail(tail, header):
    """Reads a tail up to the number of chunks, which it returns. That of a growing stream says how far the array reaches."""
    require(bytes(tail.take(4)) == b"LWYt" and tail.get("I") == ("growing" in header), "no tail")
    if "growing" in header:
        require(tail.get("Q") == header["growing"], "the tail of another stream")
        header["shape"][0] = tail.get("Q")
    chunks = tail.get("Q")
    require(chunks == math.prod(grid_of(header)), "wrong number of chunks")
    return chunks


def tail_bytes(data, header):
    """The length of the tail that begins here, whole or not; 0 if none does."""
    try:
        tail = Reader(data)
        chunks = begin_tail(tail, header)
        tail.take(4 * chunks + -4 * chunks % 16)
        tail.take(16 * tail.get("Q"))
        tail.take(32)
        require(hash_of(bytes(data[: tail.at])) == tail.get("Q"), "damaged tail")
        return tail.at + 16
    except (Corrupt, struct.error):
        return 0


def decode_brief(data):
    require(len(data) > 12 and data[4] == 1, "unknown version")
    require(hash_of(data[:-8]) == struct.unpack("<Q", data[-8:])[0], "damaged brief stream")
    reader = Reader(data[5:-8])
    type_, flags = reader.get("B"), reader.get("B")
    require(type_ & 15 in DTYPES and type_ >> 4 <= 8 and flags < 32, "unknown type or flag")
    header = {"dtype": DTYPES[type_ & 15], "shape": [reader.varint() for _ in range(type_ >> 4)], "fills": [], "min": 0, "max": 0}
    count, width = math.prod(header["shape"]), BYTES[header["dtype"]]
    require(0 < count <= 1 << 24, "wrong number of values")
    if flags & 16:
        header["recipe"] = bytes(reader.section().rest()).decode("ascii")
        require(header["recipe"], "no recipe")
    else:
        number = reader.get("B")
        require(number < len(RECIPES), "unknown recipe")
        header["recipe"] = RECIPES[number]
    bound = reader.get("d")
    default = [(1, bound)] if bound else [(5, 0.0)]
    header["bound"], header["abs"] = default, bound
    if flags & 1:
        header["bound"], header["abs"] = [(reader.get("B"), reader.get("d")) for _ in range(reader.get("B"))], reader.get("d")
        require(header["bound"] and (header["bound"], header["abs"]) != (default, bound), "the bound stands twice")
    if flags & 2:
        header["fills"] = [int.from_bytes(reader.take(width), "little") for _ in range(reader.varint())]
        require(0 < len(header["fills"]) <= 256, "wrong number of fill values")
    if flags & 4:
        header["min"], header["max"] = reader.get("d"), reader.get("d")
        require(header["min"] or header["max"], "no range")
    header["special"], header["exact"] = (reader.varint(), reader.varint()) if flags & 8 else (0, 0)
    require(bool(flags & 8) == (header["special"] + header["exact"] > 0) and max(header["special"], header["exact"]) <= count, "counts")
    error, decoded_hash = reader.get("f"), reader.get("Q")
    require(error >= 0, "an error below 0")
    header["max_error"] = min(error, header["abs"] if any(kind == 8 for kind, _ in header["bound"]) else bound)
    return header, checked_values(reader.rest(), header, header["shape"], bound, decoded_hash)


def decode(data):
    """The header and the values, row-major, as bytes."""
    if data[:4] == b"\x89LWb":
        return decode_brief(data)
    reader = Reader(data)
    header = read_header(reader)
    shape, chunk, width = header["shape"], header["chunk"], BYTES[header["dtype"]]
    offset = first_frame = reader.at
    data = data[: last_end(data, offset, header)]
    start = len(data) - Reader(data[-16:]).get("Q")
    require(offset <= start, "wrong end")
    tail = Reader(data[start:-24])
    require(Reader(data[-24:]).get("Q") == hash_of(data[start:-24]), "damaged tail")
    begin_tail(tail, header)
    out = np.zeros(list(shape) + [width], dtype=np.uint8)
    chunks, offsets = list(product(*(range(n) for n in grid_of(header)))), []
    for _ in chunks:
        offsets.append(offset)
        offset += frame_bytes(tail.get("I"))
    require(start % 16 == 0 and not any(tail.take(-4 * len(chunks) % 16)), "wrong index")
    moved = [(tail.get("Q"), tail.get("Q")) for _ in range(tail.get("Q"))]
    require(offset <= start if moved else offset == start, "wrong index")
    for ordinal, place in moved:
        require(place >= (first_frame if "growing" in header else offset) and place % 16 == 0, "wrong index")
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
