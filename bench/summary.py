# SPDX-License-Identifier: BSD-3-Clause
"""Rows of bench/peers.py as text and JSON, and geometric means over them."""
import json
import math
import pathlib

HEAD = (f"{'field':<12} {'asked':>7} {'codec':<18} {'ratio':>9} {'bits':>7} {'PSNR':>7} {'err/bound':>10} "
        f"{'comp/memcpy':>11} {'dec/memcpy':>11}")
TOLERATED = 1.01  # a peer that exceeds its bound by up to 1 % is flagged, but still counts


def line(row):
    asked = "" if row["asked"] is None else f"{row['asked']:g}"
    start = f"{row['field']:<12} {asked:>7} {row['codec']:<18} "
    if "failed" in row:
        return start + row["failed"]
    quality = "inf" if row["psnr"] is None else f"{row['psnr']:.2f}"
    error = "-" if row["error_over_bound"] is None else f"{row['error_over_bound']:.5f}"
    speeds = [f"{row[way] / row['memcpy_mb_s']:.3f}" if way in row else "-" for way in ("compress_mb_s", "decompress_mb_s")]
    notes = [" bound exceeded"] * (row["violated"] and row["missing"] != "lost") + [" missing values lost"] * (row["missing"] == "lost")
    return start + f"{row['ratio']:>9.2f} {row['bits']:>7.3f} {quality:>7} {error:>10} {speeds[0]:>11} {speeds[1]:>11}" + ",".join(notes)


def counts(row):
    """Whether a row may be compared with others: it is there, and within 1 % of what was asked."""
    if "failed" in row or row["missing"] == "lost":
        return False
    return row["equal"] != "bound" or row["error_over_bound"] <= TOLERATED


def cells(rows):
    """{(field, asked): {codec: row}} of the rows that count."""
    table = {}
    for row in rows:
        if counts(row):
            table.setdefault((row["field"], row["asked"]), {})[row["codec"]] = row
    return table


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def gains(rows, codec, others):
    """How many times smaller than the best of the others, for every cell in which it and one of them count."""
    found = {}
    for cell, row in cells(rows).items():
        rivals = [row[name]["ratio"] for name in others if name in row]
        if codec in row and rivals:
            found[cell] = row[codec]["ratio"] / max(rivals)
    return found


def speeds(rows, codec, way):
    """Those of a compressor as parts of memcpy's, field by field; memcpy counts as it was at best beside any compressor."""
    memcpy = {}
    for row in rows:
        memcpy[row["field"]] = max(memcpy.get(row["field"], 0), row.get("memcpy_mb_s", 0))
    return [row[f"{way}_mb_s"] / memcpy[row["field"]] for row in rows if row["codec"] == codec and f"{way}_mb_s" in row and counts(row)]


def codecs(rows, ours):
    return [name for name in dict.fromkeys(row["codec"] for row in rows) if name.startswith("leeway") == ours]


def means(rows):
    """How much smaller leeway's streams are, in the geometric mean over the cells that both reach."""
    ours, others = codecs(rows, True), codecs(rows, False)
    if not ours or not others:
        return ""
    text = ["", "Times smaller, geometric mean (least), over the cells where both count:"]
    text.append(f"{'':<18}" + "".join(f"{name:>18}" for name in ours))
    for name, rivals in [(name, [name]) for name in others] + [("best of them", others)]:
        found = [list(gains(rows, codec, rivals).values()) for codec in ours]
        text.append(f"{name:<18}" + "".join(f"{geometric_mean(gain):>10.3f} ({min(gain):.3f})" if gain else f"{'-':>18}" for gain in found))
    return "\n".join(text)


def bd_rate(ours, theirs):
    """By which part of theirs our rate differs in the mean over the PSNRs that both curves have [Bjontegaard, 2001]; None if there are
    none. Curves are points (PSNR, bits), at least two, joined by lines in PSNR and the logarithm of bits."""
    curves = [sorted((decibel, math.log(bits)) for decibel, bits in curve) for curve in (ours, theirs)]
    low, high = max(curve[0][0] for curve in curves), min(curve[-1][0] for curve in curves)
    if not low < high:
        return None

    def at(curve, decibel):
        for (x0, y0), (x1, y1) in zip(curve, curve[1:]):
            if decibel <= x1:
                return y0 + (y1 - y0) * (decibel - x0) / (x1 - x0) if x1 > x0 else y1
        return curve[-1][1]

    places = sorted({low, high, *(decibel for curve in curves for decibel, _ in curve if low < decibel < high)})
    apart = [at(curves[0], decibel) - at(curves[1], decibel) for decibel in places]
    area = sum((right - left) * (a + b) / 2 for left, right, a, b in zip(places, places[1:], apart, apart[1:]))
    return math.exp(area / (high - low)) - 1


def curve_of(rows, field, codec):
    found = {row["psnr"]: row["bits"] for row in rows if row["field"] == field and row["codec"] == codec and counts(row) and row["psnr"]}
    return sorted(found.items())


def bd_rates(rows):
    """A table: leeway's BD-rates against each of the others in percent, mean over the fields and the worst of them."""
    ours, others, fields = codecs(rows, True), codecs(rows, False), list(dict.fromkeys(row["field"] for row in rows))
    text = ["", "BD-rate in percent, mean over fields (worst); below 0: leeway is smaller", f"{'':<18}" + "".join(f"{name:>18}" for name in ours)]
    for name in others:
        cells = []
        for codec in ours:
            pairs = [(curve_of(rows, field, codec), curve_of(rows, field, name)) for field in fields]
            found = [bd_rate(a, b) for a, b in pairs if len(a) > 1 and len(b) > 1]
            found = [100 * rate for rate in found if rate is not None]
            cells.append(f"{sum(found) / len(found):>+9.1f} ({max(found):+.1f})" if found else "-")
        text.append(f"{name:<18}" + "".join(f"{cell:>18}" for cell in cells))
    return "\n".join(text) if others else ""


PRESETS = ("leeway fast", "leeway", "leeway small", "leeway smallest")  # the fastest first
HEADERS = 1.001  # a preset may be larger than a faster one by this factor


def defaults(rows):
    """The default against the defaults of others: leeway's ratio over theirs, cell by cell; and presets larger than a faster one."""
    others = codecs(rows, False)
    table = [row for row in cells(rows).items() if "leeway" in row[1]]
    if not others or not table:
        return ""
    width = max(10, *(len(name) + 2 for name in others))
    text = ["", "Default against default: leeway's ratio over that of", f"{'':<24}" + "".join(f"{name:>{width}}" for name in others)]
    for (field, asked), row in table:
        found = (f"{row['leeway']['ratio'] / row[name]['ratio']:.3f}" if name in row else "-" for name in others)
        text.append(f"{field:<16}{'' if asked is None else f'{asked:g}':>8}" + "".join(f"{quotient:>{width}}" for quotient in found))
    for (field, asked), row in cells(rows).items():
        there = [name for name in PRESETS if name in row]
        for faster, slower in zip(there, there[1:]):
            if row[slower]["bytes"] > HEADERS * row[faster]["bytes"]:
                text.append(f"{field} at {asked:g}: {slower} is larger than {faster}: {row[slower]['bytes']} and {row[faster]['bytes']} bytes")
    return "\n".join(text)


def write(document, path):
    """A row a line, so that changes can be read."""
    rows = ",\n".join(json.dumps(row) for row in document["rows"])
    facts = {key: value for key, value in document.items() if key != "rows"}
    with open(path, "w") as out:
        out.write(json.dumps(facts)[:-1] + ', "rows": [\n' + rows + "\n]}\n")


def merged(*documents):
    """The rows of several documents, and the packages; of rows about the same thing the last, at the place of the first."""
    rows = {tuple(row[key] for key in ("field", "equal", "asked", "codec")): row for document in documents for row in document["rows"]}
    return {"processor": documents[-1]["processor"], "packages": {name: version for document in documents for name, version in document["packages"].items()},
            "not_timed": sorted({name for document in documents for name in document["not_timed"]}),
            "fields": {name: facts for document in documents for name, facts in document["fields"].items()},
            "rows": list(rows.values())}


def read(*paths):
    """What several files have, as one document."""
    return merged(*(json.loads(pathlib.Path(path).read_text()) for path in paths))
