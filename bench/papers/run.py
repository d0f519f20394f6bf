#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tables and figures of the five papers, the paper's figures beside ours.

    python3 bench/papers/run.py sz3 --table 3                     # one of them
    python3 bench/papers/run.py wavesz --data ~/sdrbench          # a whole paper, on its data where it is there
    python3 bench/papers/run.py ceaz --figure 5 --pictures out/   # with a picture (matplotlib)
    python3 bench/papers/run.py --list                            # all of them, and where the others are

Needs the tool (scripts/build.sh tool) and NumPy. Data sets that are not found are replaced by generated fields of the same kind:
their figures show that the experiment runs, and reproduce nothing. Every column says where it comes from: printed in the paper,
measured by this run, modelled, or derived from other columns.
"""
import argparse
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import ceaz
import ceresz
import cuszp2
import sz3
import wavesz
from data import DATASETS, Data
from lab import Lab

PAPERS = {"sz3": sz3, "cuszp2": cuszp2, "ceresz": ceresz, "ceaz": ceaz, "wavesz": wavesz}
PAGE = """# Results of the papers' experiments

Made by `python3 bench/papers/{command}`; docs/PAPERS.md says what each table is. Headings say where a column comes from:
printed in the paper, measured by the run, modelled, derived from other columns. Where generated fields stand in for a data
set, figures say that the experiment runs, and nothing about the paper.

"""
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def listing():
    for name, paper in PAPERS.items():
        print(f"{name}: {paper.__doc__.splitlines()[0]}")
        for key, (title, _) in paper.EXPERIMENTS.items():
            print(f"  {key:<12} {title}")
        for key, place in paper.ELSEWHERE.items():
            print(f"  {key:<12} -> {place}")


def datasets():
    for entry in DATASETS.values():
        shape = "x".join(map(str, entry.shape)) or "one axis"
        print(f"{entry.name:<12} {entry.domain:<24} {shape:<18} {entry.dtype}  {', '.join(entry.patterns)}")


def chosen(paper, table, figure):
    if table is None and figure is None:
        return list(paper.EXPERIMENTS)
    key = f"table {table}" if table is not None else f"figure {figure}"
    if key in paper.EXPERIMENTS:
        return [key]
    if key in paper.ELSEWHERE:
        raise SystemExit(f"{key}: {paper.ELSEWHERE[key]}")
    raise SystemExit(f"the paper has no {key}; there are: {', '.join(paper.EXPERIMENTS)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paper", nargs="?", choices=[*PAPERS, "all"], help="which paper")
    parser.add_argument("--table", metavar="N", help="a table of it")
    parser.add_argument("--figure", metavar="N", help="a figure of it")
    parser.add_argument("--data", metavar="FOLDER", help="where data sets are; names and sizes as in SDRBench")
    parser.add_argument("--fields", metavar="N", type=int, default=80, help="at most so many fields of a data set")
    parser.add_argument("--pictures", metavar="FOLDER", help="draw figures there, as SVG and PNG")
    parser.add_argument("--peers", metavar="LIST", default="", help="other compressors beside ours, as far as they are installed "
                        "(scripts/setup.sh peers): SZ3, SZ3-LR, SZ3-Interp, zfp, SPERR; in tables of rate and distortion, ratios and speeds")
    parser.add_argument("--markdown", metavar="FILE", help="all tables as a page")
    parser.add_argument("--json", metavar="FILE", help="all tables as JSON; - for standard output")
    parser.add_argument("--repeat", metavar="N", type=int, default=3, help="passes for speeds; medians count")
    parser.add_argument("--threads", metavar="N", type=int, default=1, help="worker threads")
    parser.add_argument("--tool", metavar="FILE", default=str(ROOT / "build/leeway"), help="the tool")
    parser.add_argument("--list", action="store_true", help="what there is")
    parser.add_argument("--datasets", action="store_true", help="names of files that are looked for")
    options = parser.parse_args()
    if options.list or options.datasets:
        return listing() if options.list else datasets()
    if not options.paper:
        parser.error("which paper? " + ", ".join(PAPERS))
    if not pathlib.Path(options.tool).exists():
        parser.error(f"{options.tool} is not there: scripts/build.sh tool makes it")
    papers = PAPERS if options.paper == "all" else {options.paper: PAPERS[options.paper]}
    results, pages, report = {}, [], sys.stderr if options.json == "-" else sys.stdout
    with tempfile.TemporaryDirectory(prefix="leeway-papers-") as scratch:
        for name, paper in papers.items():
            pages.append(f"## {paper.__doc__.splitlines()[0]}\n")
            for key in chosen(paper, options.table, options.figure):
                title, table = made(paper, key, options, scratch)
                results.setdefault(name, {})[key] = {"title": title, **table.as_json()}
                pages.append(f"### {key}: {title}\n\n{table.markdown()}\n" + "".join(f"* {remark}\n" for remark in table.remarks))
                print(f"\n{name}, {key}: {title}\n{table.text()}", *(f"* {remark}" for remark in table.remarks),
                      *(f"picture: {path}" for path in table.pictures), sep="\n", file=report, flush=True)
    if options.markdown:
        pathlib.Path(options.markdown).write_text(PAGE.format(command=" ".join(["run.py", *sys.argv[1:]])) + "\n".join(pages))
    if options.json:
        of_one = {"paper": options.paper, "experiments": results.get(options.paper)}
        text = json.dumps(of_one if options.paper in results else results, indent=1) + "\n"
        sys.stdout.write(text) if options.json == "-" else pathlib.Path(options.json).write_text(text)


def made(paper, key, options, scratch):
    """Title and table of an experiment."""
    data = Data(options.tool, options.data, scratch, options.fields)
    title, experiment = paper.EXPERIMENTS[key]
    peers = [name for name in options.peers.split(",") if name]
    table = experiment(Lab(options.tool, data, options.pictures, options.repeat, options.threads, peers))
    table.remarks = list(dict.fromkeys([*data.remarks, *table.remarks]))
    return title, table


if __name__ == "__main__":
    main()
