#!/usr/bin/env bash
# Rules that grep can check: who may include whom, and what may not be in the sources.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0
complain() { echo "check_source: $*"; failed=1; }

# core <- stages (never each other) <- recipe, stream <- engine <- leeway.hpp <- tools
forbid() {  # folder, pattern of includes that must not stand in it, pattern of lines that may nevertheless
  grep -rnE "#include \"($2)" "leeway/$1" --include='*.h' --include='*.cc' | grep -v '_test' | grep -vE "${3:-^$}" && complain "leeway/$1 includes what it must not" || true
}
stages="preprocess|predict|quantize|encode|lossless"
forbid core "leeway/($stages|recipe|stream|engine|quality)/"
for stage in preprocess predict quantize encode lossless; do
  others=$(tr '|' '\n' <<<"$stages" | grep -v "^$stage$" | paste -sd'|')
  forbid $stage "leeway/($others|recipe|stream|engine|quality)/"
done
forbid stream "leeway/($stages|recipe|engine|quality)/"
# A recipe makes a codec, and the codec of a chunk is made of the joined stages: one file each way, until both have a room of their own.
root="leeway/[a-z0-9_]+\.hpp|leeway/(leeway|hdf5|compressor|chunk_memory|whole_bound)\.h"
forbid recipe "leeway/(stream|engine|quality)/|$root" 'recipe/recipe\.h:.*engine/chunk_codec\.h'
forbid engine "leeway/($stages|recipe|quality)/|$root" 'engine/chunk_codec\.h:|preprocess/mask\.h'
forbid quality "leeway/($stages|recipe)/|leeway/(leeway|hdf5|compressor|chunk_memory|whole_bound)\.h\"" 'preprocess/mask\.h|quality/choose\.cc:.*recipe/recipe\.h'
for stage in core preprocess predict quantize encode lossless stream; do forbid $stage "$root"; done

# No header includes itself, directly or through others.
grep -rE '^#include "leeway/' leeway --include='*.h' --include='*.hpp' | sed -E 's/^([^:]*):#include "([^"]*)".*/\1 \2/' |
  { tsort 2>&1 >/dev/null || true; } | grep . && complain "headers include each other in a circle" || true

# Vector code of every file is in a namespace of its own: the linker would take two functions or constants of one name for
# the same.
grep -rhoE '^namespace leeway[a-z_:]*::HWY_NAMESPACE \{' leeway --include='*.cc' --include='*-inl.h' | sort | uniq -d | grep . && complain "two files with vector code in one namespace" || true
grep -rnE '^namespace leeway::HWY_NAMESPACE' leeway && complain "vector code without a namespace of its own" || true

# Third-party types stay out of the headers.
grep -rnE '#include [<"](zstd|libdeflate|lz4|xxh|hwy|CLI|fmt|nlohmann|toml)' leeway --include='*.h' --include='*.hpp' && complain "third-party header in a header" || true
# The library does not print or end the process.
grep -rnE 'std::(cout|cerr|exit|abort)|[^f]printf\(' leeway --include='*.cc' --include='*.h' --include='*.hpp' | grep -v '_test' | grep -v '^[^:]*:[0-9]*: *//' && complain "the library prints or exits" || true
# Every source says its licence, and is ASCII.
for file in $(git ls-files '*.cc' '*.h' '*.hpp' '*.c'); do
  head -n 1 "$file" | grep -q SPDX-License-Identifier || complain "$file has no licence line"
  LC_ALL=C grep -nP '[^\x00-\x7f]' "$file" && complain "$file is not ASCII" || true
done
# Every page begins with a heading; templates in .github begin with what the forge reads.
for file in $(git ls-files "*.md" ":!.github"); do
  head -n 1 "$file" | grep -q "^# " || complain "$file does not begin with a heading"
done
exit $failed
