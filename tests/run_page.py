# SPDX-License-Identifier: BSD-3-Clause
"""Runs the fenced blocks of a page in their order, in the current folder: run_page.py PAGE.md

```sh and ```python are run, the latter in one namespace; a block with a name behind its language, ```c hello.c, is written to
that file."""
import re
import subprocess
import sys

page = open(sys.argv[1]).read()
namespace = {"__name__": "__main__"}
for language, name, body in re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", page, re.S | re.M):
    print(f"--- {language} {name}", flush=True)
    if name:
        open(name, "w").write(body)
    elif language == "xml":
        continue  # a part of a file
    elif language == "sh":
        subprocess.run(["bash", "-euo", "pipefail", "-c", body], check=True)
    elif language == "python":
        exec(compile(body, sys.argv[1], "exec"), namespace)
    else:
        sys.exit(f"a block of {language} that is not run")
