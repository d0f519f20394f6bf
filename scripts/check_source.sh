#!/usr/bin/env bash
# Rules that grep can check: who may include whom, and what may not be in the sources.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0
complain() { echo "check_source: $*"; failed=1; }

# Every folder may include itself and those before it in this list; the folders of stages may not include each other.
#   base <- stage <- preprocess, predict, quantize, encode, lossless <- join <- recipe <- codec <- engine <- choose
#   base <- stage <- stream <- engine <- quality <- choose
#   choose <- parallel; engine <- gpu; both on top of leeway.hpp
#   fabric, models of hardware, stands beside the library: it uses it, and nothing in leeway/ uses fabric
stages="preprocess predict quantize encode lossless"
arrows() {  # folder, folders that it may include
  local pattern="leeway/($(tr ' ' '|' <<<"$*"))/"
  grep -rnE '#include "leeway/' "leeway/$1" --include='*.h' --include='*.cc' | grep -v '_test' | grep -vE "\"$pattern" | grep -vE "${except:-^$}" &&
    complain "leeway/$1 includes what it must not" || true
}
arrows base
arrows stage base
for stage in $stages; do arrows $stage base stage; done
arrows join base stage $stages
arrows recipe base stage $stages join
arrows codec base stage $stages join recipe
arrows stream base stage
except='leeway/(array|whole_bound)\.h' arrows engine base stage lossless codec stream
arrows quality base stage codec engine
except='leeway/(array\.h|leeway\.hpp)' arrows choose base stage recipe codec stream engine quality
except='leeway/(array\.h|leeway\.hpp|library_codec\.h|parallel\.h)' arrows parallel base stage codec stream engine choose
except='leeway/(leeway\.hpp|library_codec\.h)' arrows gpu base stage recipe stream engine
except='leeway/leeway\.hpp' arrows derived base stage recipe codec stream engine choose
except='leeway/leeway\.hpp' arrows report base stage stream engine quality choose derived
except='leeway/leeway\.hpp' arrows fabric base stage quantize stream

# No header includes itself, directly or through others.
grep -rE '^#include "leeway/' leeway --include='*.h' --include='*.hpp' | sed -E 's/^([^:]*):#include "([^"]*)".*/\1 \2/' |
  { tsort 2>&1 >/dev/null || true; } | grep . && complain "headers include each other in a circle" || true

# Vector code of every file is in a namespace of its own: the linker would take two functions or constants of one name for
# the same.
grep -rhoE '^namespace leeway[a-z_:]*::HWY_NAMESPACE \{' leeway --include='*.cc' --include='*-inl.h' | sort | uniq -d | grep . && complain "two files with vector code in one namespace" || true
grep -rnE '^namespace leeway::HWY_NAMESPACE' leeway && complain "vector code without a namespace of its own" || true

# No file has more than 500 lines, and no function more than 80.
git ls-files 'leeway/*.cc' 'leeway/*.h' 'leeway/*.hpp' 'tools/*.cc' 'tools/*.h' 'hdf5/*.cc' 'hdf5/*.h' 'python/*.cc' 'python/*.h' |
  xargs python3 scripts/check_length.py || complain "too long"
# leeway.hpp compiles fast: it and the headers that it includes do without the standard's largest headers.
reached() {  # headers, themselves included, that a header of the library includes
  local seen="" left="$1" file
  while [ -n "$left" ]; do
    file=${left%% *} left=${left#"$file"} left=${left# }
    case " $seen " in *" $file "*) continue ;; esac
    seen="$seen $file"
    left="$left $(sed -nE 's/^#include "(leeway[^"]*)".*/\1/p' "$file" | tr '\n' ' ')"
    left=$(tr -s ' ' <<<"$left" | sed 's/^ //')
  done
  echo "$seen"
}
grep -nE '#include <(algorithm|atomic|chrono|fstream|iostream|map|memory|mutex|ranges|regex|sstream|thread|unordered_map)>' $(reached leeway/leeway.hpp) &&
  complain "leeway.hpp includes a large standard header" || true

# What returns a subrange does not compile with clang 14 and the library of g++ 12.
grep -rnE 'std::(ranges::(unique|rotate|partition|stable_partition|remove|remove_if|search|equal_range)\(|views::)' leeway tools tests --include='*.cc' --include='*.h' |
  grep . && complain "what clang 14 does not compile: take the algorithm with iterators" || true
# Third-party types stay out of the headers.
grep -rnE '#include [<"](zstd|libdeflate|lz4|xxh|hwy|CLI|fmt|nlohmann|toml)' leeway --include='*.h' --include='*.hpp' && complain "third-party header in a header" || true
# The library does not print or end the process.
grep -rnE 'std::(cout|cerr|exit|abort)|[^fn]printf\(' leeway --include='*.cc' --include='*.h' --include='*.hpp' | grep -v '_test' | grep -v '^[^:]*:[0-9]*: *//' && complain "the library prints or exits" || true
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
