# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every error text of the compiler and the runtime must occur in what some test expects.

An error text is the longest string literal of a statement that reports an error. It is covered where a test holds three
consecutive words of it (all of it where it has fewer): texts are built from pieces, and tests expect them filled in. The reasons that
fusion gives for not joining kernels are no errors.
"""
import os
import re
import subprocess

REPORTS = re.compile(
    r"\b(emitOpError|emitError|emitRemark|refuse|Complaint|complain|complaint|fail|failure|Failure|error|refuseAt|reject|"
    r"malformed|Error|invalid|bad|mismatch|unavailable|damaged|describeFailure|setError|diagnose)\s*[({]")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
FOLDERS = ["compiler", "dialects", "passes", "codegen", "runtime/src"]


def tracked(root, *folders):
    out = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", *folders],
                         capture_output=True, text=True, check=True).stdout
    return [name for name in out.splitlines() if os.path.exists(os.path.join(root, name))]


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
        return file.read()


def without_comments(text):
    """Comments blanked, strings and line numbers kept."""
    def blank(match):
        found = match.group(0)
        return found if found.startswith(('"', "'")) else re.sub(r"[^\n]", " ", found)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|//[^\n]*|/\*.*?\*/', blank, text, flags=re.S)


def statements(text):
    """(line, statement) pairs: the text between semicolons and braces that stand outside of strings."""
    begin = line = 0
    first = 1
    number = 1
    in_string = False
    i = 0
    while i < len(text):
        c = text[i]
        if c == "\n":
            number += 1
        if in_string:
            if c == "\\":
                i += 1
            elif c == '"':
                in_string = False
        elif c == '"':
            in_string = True
        elif c == "'" and re.match(r"'(?:[^'\\]|\\.)'", text[i:i + 4]):
            i += len(re.match(r"'(?:[^'\\]|\\.)'", text[i:i + 4]).group(0)) - 1
        elif c in ";":
            yield first, text[begin:i]
            begin, first = i + 1, number
        i += 1
    del line
    yield first, text[begin:]


def unescape(literal):
    return literal.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")


def words(text):
    return [word for word in re.split(r"\s+", text.strip()) if word]


def error_texts(root):
    """(file, line, text) of every reported error."""
    for name in tracked(root, *FOLDERS):
        if not name.endswith((".cpp", ".h")) or name == "passes/fuse/FusionPlan.cpp":
            continue
        for line, statement in statements(without_comments(read(root, name))):
            match = REPORTS.search(statement)
            if not match:
                continue
            # Literals side by side are one; before the call stands what is not said.
            rest = re.sub(r'"\s*\n?\s*"', "", statement[match.start():])
            pieces = [unescape(piece) for piece in LITERAL.findall(rest)]
            pieces = [piece.strip(" :,.'()[]\n") for piece in pieces]
            # What is nothing but filled in says nothing to look for.
            pieces = [piece for piece in pieces if (len(words(piece)) >= 2 or len(piece) >= 14) and any(windows(piece))]
            if not pieces:
                continue
            yield name, line + statement[:match.start()].count("\n"), max(pieces, key=len)


def windows(text):
    """What a test may hold of the text: three words in a row between what is filled in."""
    for piece in re.split(r"%[-.*0-9]*(?:ll[dux]|zu|[dusx])|\{\d+\}", text):
        parts = words(piece.strip(" :,.'()[]"))
        size = min(3, len(parts))
        for i in range(len(parts) - size + 1) if parts else ():
            window = " ".join(parts[i:i + size])
            if len(window) >= 7:
                yield window


def uncovered(root):
    expected = []
    for name in tracked(root, "tests", "runtime/examples"):
        if name.startswith(("tests/house/", "tests/models/")):
            continue
        if name.endswith((".mlir", ".cpp", ".h", ".py", ".sh", ".inc", ".cmake", ".txt")):
            expected.append(re.sub(r'"\s*\n\s*"', "", read(root, name)))
    haystack = re.sub(r"\s+", " ", unescape("\n".join(expected)))
    missing, count = [], 0
    for name, line, text in error_texts(root):
        count += 1
        if not any(window in haystack for window in windows(text)):
            missing.append((name, line, text))
    return count, missing


if __name__ == "__main__":
    total, missing = uncovered(os.getcwd())
    for name, line, text in missing:
        print(f"{name}:{line}: {text!r}")
    print(f"{total} error texts, {len(missing)} without a test")
