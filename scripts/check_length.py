#!/usr/bin/env python3
"""Prints C++ files longer than 500 lines and functions longer than 80: check_length.py FILE..."""
import re
import sys

MOST_FILE_LINES, MOST_FUNCTION_LINES = 500, 80
# Literals, comments and directives are replaced by their line breaks: they may hold braces.
HIDDEN = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\])+\'|//[^\n]*|/\*.*?\*/'
                    r'|^[ \t]*#(?:\\\n|[^\n])*', re.DOTALL | re.MULTILINE)
NOT_A_FUNCTION = re.compile(r'^(?:export\s+)?(?:template\s*<.*>\s*)?(?:inline\s+)?'
                            r'(?:namespace|class|struct|union|enum|extern)\b|=\s*$', re.DOTALL)


def functions(text):
    """Yields name, first line and number of lines of every function that is not inside another."""
    text = HIDDEN.sub(lambda match: '""' + "\n" * match[0].count("\n"), text)
    depth, outer, start = 0, None, 0
    for match in re.finditer(r"[{};]", text):
        if match[0] == "{":
            head = text[start:match.start()].strip()
            if outer is None and "(" in head and not NOT_A_FUNCTION.search(head.lstrip('"\n ')):
                line = text.count("\n", 0, match.start() - len(text[start:match.start()].lstrip('"\n '))) + 1
                outer = (depth, re.sub(r"\s+", " ", head.split("(")[0])[-60:], line)
            depth += 1
        elif match[0] == "}":
            depth -= 1
            if outer and outer[0] == depth:
                yield outer[1], outer[2], text.count("\n", 0, match.start()) + 2 - outer[2]
                outer = None
        if outer is None:
            start = match.end()


failed = False
for path in sys.argv[1:]:
    with open(path, encoding="ascii") as file:
        source = file.read()
    if (lines := source.count("\n")) > MOST_FILE_LINES:
        failed = True
        print(f"{path}: {lines} lines, at most {MOST_FILE_LINES}")
    for name, first, lines in functions(source):
        if lines > MOST_FUNCTION_LINES:
            failed = True
            print(f"{path}:{first}: {name.strip()} has {lines} lines, at most {MOST_FUNCTION_LINES}")
sys.exit(failed)
