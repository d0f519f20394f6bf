#!/usr/bin/env bash
# Builds the decoder for the browser into build/web: leeway.wasm and leeway.js for other pages, and index.html, the viewer in
# one file that needs no server. Needs clang, lld and wasi-libc (scripts/setup.sh), and build/leeway for the sample.
set -euo pipefail
cd "$(dirname "$0")/.."
tool=${LEEWAY_BUILD:-build}/leeway
out=${1:-build/web}
mkdir -p "$out"

# -O2: three quarters faster than -Os for 70 kB more. The stack lies first, so that using it up is an error and harms nothing.
clang --target=wasm32-wasi -mexec-model=reactor -std=c99 -O2 -mbulk-memory -ffp-contract=off -Wall -Wextra -Werror \
  decoder/web/leeway_web.c -o "$out/leeway.wasm" -Wl,--strip-all -Wl,--stack-first -Wl,-z,stack-size=262144
cp decoder/web/leeway.js "$out/leeway.js"

sample=$(mktemp -d)
trap 'rm -rf "$sample"' EXIT
"$tool" sample climate --shape 24x180x360 -o "$sample/sea.f32" -q
"$tool" compress "$sample/sea.f32" --shape 24x180x360 --dtype f32 --preset small --rel 1e-2 -o "$sample/sea.lwy" -q

python3 - decoder/web "$out" "$sample/sea.lwy" <<'END'
import base64, pathlib, sys

source, out, sample = map(pathlib.Path, sys.argv[1:])
read = lambda name: (source / name).read_text()
encoded = lambda path: base64.encodebytes(path.read_bytes()).decode()
page = read("index.html")


def put(mark, text):
    global page
    assert page.count(mark) == 1, mark
    page = page.replace(mark, text)


put('<link rel="stylesheet" href="page.css">', f"<style>\n{read('page.css')}</style>")
put('<script type="text/plain" id="worker" src="worker.js"></script>',
    f'<script type="text/plain" id="worker">\n{read("leeway.js")}{read("worker.js")}</script>')
for name in ("picture.js", "page.js"):
    put(f'<script src="{name}"></script>', f"<script>\n{read(name)}</script>")
put("<!-- build: data -->",
    f'<script type="text/plain" id="wasm">\n{encoded(out / "leeway.wasm")}</script>\n'
    f'<script type="text/plain" id="sample-stream" data-name="{sample.name}">\n{encoded(sample)}</script>')
(out / "index.html").write_text(page)
END
echo "$out/index.html: $(stat -c %s "$out/index.html") bytes, of them $(stat -c %s "$out/leeway.wasm") of WebAssembly before encoding"
