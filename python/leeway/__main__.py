# SPDX-License-Identifier: BSD-3-Clause
"""`python -m leeway` runs the command line tool that came with this package, as `leeway` does."""
from __future__ import annotations

import os
import pathlib
import sys
import sysconfig


def find_tool() -> pathlib.Path:
    """The program, where installers put the programs of a package."""
    user_scheme = f"{os.name}_user"
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", scheme=user_scheme),
               pathlib.Path(__file__).parents[1] / "bin"]  # pip install --target
    for folder in map(pathlib.Path, folders):
        if (folder / "leeway").is_file():
            return folder / "leeway"
    raise SystemExit("leeway: this package was built without the command line tool, or it lies in none of "
                     + ", ".join(map(str, folders)))


def main() -> None:
    tool = str(find_tool())
    os.execv(tool, [tool, *sys.argv[1:]])


if __name__ == "__main__":
    main()
