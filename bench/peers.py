#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""leeway beside other compressors, in one run, each with its defaults: ratio, PSNR, error over bound, speed beside memcpy.

    scripts/setup.sh peers && scripts/wheel.sh
    .venv/bin/python bench/fields.py
    .venv/bin/python bench/peers.py build/fields/*.f32 --json build/bound.json
    .venv/bin/python bench/peers.py build/fields/*.f32 --equal psnr --psnr 50 70 90 --json build/psnr.json
    .venv/bin/python bench/peers.py build/fields/*.f32 --equal psnr --bits 0.1 0.3 1 2 3 4.5 6 --plot build/rates.svg
    .venv/bin/python bench/peers.py build/fields/*.f32 --equal lossless

--equal bound     all get the same absolute bound, a part of the range of the valid values
--equal psnr      all get as near to a PSNR as they can, from above: the bound is searched for each compressor and field. SPERR
                  and EBCC are then free of a largest error: SPERR and leeway aim at the PSNR, EBCC uses its JPEG 2000 layer
                  alone. --bits takes the PSNRs that SPERR reaches with so many bits a value; then BD-rates are shown: by how
                  much leeway's rate differs from that of another in the mean over the PSNRs that both have
--equal lossless  every value comes back bit for bit

One thread. Each measurement is made in a process of its own; one that fails, dies or takes too long is a row of the table
that says so. Speeds count processor time, which others on the machine disturb least, and are the best of --repeat passes, with
memcpy of the same array timed between them; a single pass gives no speeds. A value that means "nothing here"
(fields.json beside a field names it, or --fill) counts neither for range, error nor PSNR; compressors that cannot keep it
get the mean of the other values, or NaN, in its place, and what a mask would cost them is not counted.
"""
import argparse
import importlib.metadata
import json
import math
import multiprocessing
import os
import pathlib
import platform
import re
import signal
import sys
import time

import numpy as np

import compressors
import summary

TYPES = {"f32": np.float32, "f64": np.float64}
PSNR_MARGIN = 0.05  # dB that a search may stop above its target
PSNR_STEPS = 10


def load(path, fill):
    path = pathlib.Path(path)
    match = re.search(r"^(.+)_([0-9x]+)\.(f32|f64)$", path.name)
    if not match:
        sys.exit(f"{path}: the name must end like _100x500x500.f32")
    array = np.fromfile(path, TYPES[match[3]]).reshape([int(n) for n in match[2].split("x")])
    table = path.parent / "fields.json"
    facts = json.loads(table.read_text()).get(path.name, {}) if table.exists() else {}
    return compressors.Field(match[1], array, facts.get("fill") if fill is None else fill, facts.get("domain", ""))


def psnr(field, back):
    """None for infinity."""
    valid = slice(None) if field.missing is None else ~field.missing
    error = np.mean(np.square(field.array[valid].astype(np.float64) - back[valid]))
    return float(20 * math.log10(field.range) - 10 * math.log10(error)) if error > 0 else None


def compare(field, back, peer):
    """Largest error and PSNR over the valid values, and what became of the others: kept, lost, replaced; none."""
    if back.shape != field.array.shape or back.dtype != field.array.dtype:
        raise ValueError(f"gave back {back.dtype} {back.shape}")
    valid = slice(None) if field.missing is None else ~field.missing
    error = float(np.max(np.abs(field.array[valid].astype(np.float64) - back[valid])))
    missing = "none"
    if field.missing is not None:
        same = np.array_equal(field.array[field.missing], back[field.missing], equal_nan=True)
        missing = "replaced" if not peer.keeps_missing else "kept" if same else "lost"
    return {"error": error, "psnr": psnr(field, back), "missing": missing}


def timed(function, *arguments):
    """What it returns, and the processor time of all threads that it took."""
    start = time.process_time()
    result = function(*arguments)
    return result, time.process_time() - start


def passes(peer, field, bound, repeat):
    """Compresses and decompresses a few times, memcpy in between, several times, since it is short."""
    coder, copy = peer.load(), np.empty_like(field.array)
    seconds = {"compress": [], "decompress": [], "memcpy": []}
    for _ in range(repeat if peer.timed else 1):
        (stream, size), compress = timed(coder.encode, field, bound)
        back, decompress = timed(coder.decode, stream, field)
        memcpy = min(timed(np.copyto, copy, field.array)[1] for _ in range(5))
        for name, value in zip(seconds, (compress, decompress, memcpy)):
            seconds[name].append(value)
    row = {"bytes": size, **compare(field, back, peer)}
    if peer.timed and repeat > 1:
        row |= {f"{name}_mb_s": round(field.array.nbytes / 1e6 / min(values), 1) for name, values in seconds.items()}
    return row


def at_psnr(peer, field, target):
    """The smallest stream found that has the PSNR, by a search for the bound."""
    coder = peer.load()
    encode = coder.encode_freely or coder.encode
    bound, tried, enough, too_little = field.range * math.sqrt(3) * 10 ** (-target / 20), [], None, None
    for _ in range(PSNR_STEPS):
        stream, size = encode(field, bound)
        row = {"bytes": size, "bound": bound, **compare(field, coder.decode(stream, field), peer)}
        above = 20.0 if row["psnr"] is None else row["psnr"] - target
        again = any(before["bytes"] == size and before["psnr"] == row["psnr"] for before in tried)
        tried.append(row)
        if above >= 0:
            enough = (math.log(bound), above)
        else:
            too_little = (math.log(bound), above)
        if 0 <= above <= PSNR_MARGIN or (again and enough and too_little):  # the latter: bounds that go in steps
            break
        if enough and too_little:
            part = (enough[1] - PSNR_MARGIN / 2) / (enough[1] - too_little[1])
            bound = math.exp(enough[0] + (too_little[0] - enough[0]) * min(max(part, 0.05), 0.95))
        else:
            bound = min(bound * 10 ** (max(min(above, 20), -20) / 20) * (1.05 if above >= 0 else 0.95), 0.9 * field.range)
    reached = [row for row in tried if row["psnr"] is None or row["psnr"] >= target]
    if not reached:
        raise ValueError("the PSNR was not reached")
    return min(reached, key=lambda row: row["bytes"])


def psnr_at(field, bits):
    """The PSNR that SPERR reaches with so many bits a value, to two decimals."""
    coder = compressors.LOSSY["SPERR"].load()
    stream, _ = coder.encode_at(field, bits)
    return {"psnr": round(psnr(field, coder.decode(stream, field)), 2)}


def targets_of(field, options):
    """What all compressors are asked for."""
    if options.equal != "psnr" or not options.bits:
        return {"bound": options.rel, "psnr": options.psnr, "lossless": [None]}[options.equal]
    found = [in_child(lambda: psnr_at(field, bits), options.limit) for bits in options.bits]
    for bits, row in zip(options.bits, found):
        if "failed" in row:
            print(f"{field.name}: SPERR at {bits:g} bits: {row['failed']}", file=sys.stderr)
    return sorted({row["psnr"] for row in found if "psnr" in row})


def in_child(work, limit):
    """What work() returns, made in a process of its own; {"failed": why} if it fails, dies or takes too long."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(False)

    def run():
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        try:
            sender.send(work())
        except Exception as error:  # of a library that is not ours: whatever it is, it belongs into the table
            sender.send({"failed": f"{type(error).__name__}: {error}".splitlines()[0][:200]})

    process = context.Process(target=run)
    process.start()
    sender.close()
    try:
        result = receiver.recv() if receiver.poll(limit) else {"failed": f"took more than {limit:.0f} s"}
    except EOFError:
        process.join()
        code = process.exitcode
        result = {"failed": f"died: {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"}
    process.kill()
    process.join()
    return result


def measure(field, equal, asked, name, peer, options):
    """A row of the table."""
    head = {"field": field.name, "equal": equal, "asked": asked, "codec": name}
    bound = asked * field.range if equal == "bound" else None
    if equal == "psnr":
        row = in_child(lambda: at_psnr(peer, field, asked), options.limit)
    else:
        row = in_child(lambda: passes(peer, field, bound, options.repeat), options.limit)
    if "failed" in row:
        return {**head, **row}
    error = row.pop("error")
    bound = row.pop("bound", bound)
    row |= {"ratio": round(field.array.nbytes / row["bytes"], 4), "bits": round(8 * row["bytes"] / field.array.size, 5)}
    row["psnr"] = None if row["psnr"] is None else round(row["psnr"], 3)
    row["error_over_bound"] = round(error / bound, 6) if bound else None
    row["violated"] = row["missing"] == "lost" or (error > bound if equal == "bound" else equal == "lossless" and error > 0)
    return {**head, **row}


def chosen(options):
    """The compressors that take part, by name; those that are not installed are left out, and said so."""
    others = compressors.LOSSLESS if options.equal == "lossless" else compressors.LOSSY
    names = [name for name, peer in others.items() if peer.usual] if options.peers is None else [n for n in options.peers.split(",") if n]
    unknown = set(names) - set(others)
    if unknown:
        sys.exit(f"no such peer: {', '.join(sorted(unknown))}; there are {', '.join(others)}")
    usual = "lossless" if options.equal == "lossless" else "default,fast,small,smallest"
    recipes = [name for name in (usual if options.recipes is None else options.recipes).split(",") if name]
    candidates = {**compressors.leeway_peers(recipes), **{name: others[name] for name in names}}
    found = {}
    for name, peer in candidates.items():
        answer = in_child(lambda: {} if peer.load() else {}, options.limit)
        if "failed" in answer:
            print(f"{name}: left out ({answer['failed']})", file=sys.stderr)
        else:
            found[name] = peer
    return found


def processor():
    """Its name, for speeds."""
    names = re.findall(r"model name\s*: (.+)", pathlib.Path("/proc/cpuinfo").read_text())
    return names[0] if names else platform.machine()


def version_of(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "?"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fields", nargs="+", help="raw files named like field_100x500x500.f32")
    parser.add_argument("--equal", choices=("bound", "psnr", "lossless"), default="bound", help="what all have in common")
    parser.add_argument("--rel", type=float, nargs="+", default=[1e-2, 1e-3, 1e-4], help="bounds, as parts of the value range")
    parser.add_argument("--psnr", type=float, nargs="+", default=[50, 70, 90], help="targets of --equal psnr, in dB")
    parser.add_argument("--bits", type=float, nargs="+", help="instead of --psnr: the PSNRs of SPERR with so many bits a value")
    parser.add_argument("--plot", metavar="FILE", help="of --equal psnr: draw rate and distortion, .svg, .pdf or .png")
    parser.add_argument("--recipes", help="leeway's, separated by commas (default,fast,small,smallest)")
    parser.add_argument("--peers", help="only these, separated by commas: " + ", ".join({**compressors.LOSSY, **compressors.LOSSLESS}))
    parser.add_argument("--fill", type=float, help="value that means: nothing here")
    parser.add_argument("--repeat", type=int, default=3, help="passes of every compressor; 1: no speeds")
    parser.add_argument("--limit", type=float, default=1200, help="seconds that a measurement may take")
    parser.add_argument("--json", metavar="FILE", help="also write the rows as JSON, after each of them")
    parser.add_argument("--keep", action="store_true", help="rows that FILE has and that are not measured now stay there")
    options = parser.parse_args()
    if options.keep and not options.json:
        parser.error("--keep needs --json")
    if (options.bits or options.plot) and options.equal != "psnr":
        parser.error("--bits and --plot belong to --equal psnr")
    return options


def main():
    options = arguments()
    peers = chosen(options)
    document = {"processor": processor(), "packages": {peer.package: version_of(peer.package) for peer in peers.values()},
                "not_timed": [name for name, peer in peers.items() if not peer.timed], "fields": {}, "rows": []}
    before = summary.read(options.json) if options.keep and os.path.exists(options.json) else None
    print(summary.HEAD)
    for path in options.fields:
        field = load(path, options.fill)
        document["fields"][field.name] = {"shape": field.array.shape, "type": field.array.dtype.name, "domain": field.domain}
        for asked in targets_of(field, options):
            for name, peer in peers.items():
                if peer.is_for(field):
                    row = measure(field, options.equal, asked, name, peer, options)
                    document["rows"].append(row)
                    print(summary.line(row), flush=True)
                    if options.json:
                        summary.write(summary.merged(before, document) if before else document, options.json)
    print(summary.defaults(document["rows"]))
    print(summary.means(document["rows"]))
    if options.equal == "psnr":
        print(summary.bd_rates(document["rows"]))
    if options.plot:
        import figures

        figures.rates(document, most=12).savefig(options.plot)


if __name__ == "__main__":
    main()
