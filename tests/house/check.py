#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The house rules (CONTRIBUTING.md) as a test: tests/house/check.py [BUILD].

With a build folder, what was built is looked at too. Prints every breach; exit code 1 where there is one.
`check.py --list-untested` writes the list of errors without a test anew: for when it has become shorter.
"""
import os
import re
import shutil
import subprocess
import sys

import diagnostics
from diagnostics import read, tracked, without_comments

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = ["dialects", "passes", "codegen", "compiler", "runtime", "tools"]

# Who may include whom, besides itself. `abi` is runtime/include/stator/abi.h, the one header both sides of the wall know.
ARROWS = {
    "dialects": {"mlir", "dialects"},
    "passes": {"mlir", "passes", "dialects"},
    "codegen": {"mlir", "codegen", "dialects", "abi"},
    "compiler": {"mlir", "compiler", "passes", "codegen", "dialects", "abi"},
    "runtime": {"runtime", "abi", "public"},
    "tools": {"mlir", "tools", "compiler", "passes", "codegen", "dialects", "runtime", "abi", "public"},
}
# Libraries that the runtime may need: of the C and C++ languages, nothing else.
RUNTIME_NEEDS = ("libc.so", "libm.so", "libstdc++.so", "libgcc_s.so", "libpthread.so", "libdl.so", "ld-linux")
# Variables that outlive a call, and why they may.
STATICS = {
    "runLinker": "lld keeps its state in globals, so links take turns",
    "targetMachine": "LLVM's targets are registered once a process",
    "stator::phases()::table": "a constant that is made at its first use",
    "Call::argument(llvm::StringRef) const::none": "an empty constant",
}
DATA = (".inc",)  # tables that a script wrote


def sources(*folders, endings=(".cpp", ".h", ".c", ".td", ".inc")):
    return [name for name in tracked(ROOT, *(folders or SOURCES)) if name.endswith(endings)]


def layer(included):
    if included == "stator/abi.h":
        return "abi"
    if included.startswith("stator/"):
        return "public"
    if included.startswith(("mlir/", "llvm/", "lld/")):
        return "mlir"
    return included.split("/")[0]


def include_arrows():
    for name in sources():
        own = name.split("/")[0]
        for included in re.findall(r'^\s*#include "([^"]+)"', read(ROOT, name), re.M):
            if "/" not in included:
                continue
            if layer(included) not in ARROWS[own]:
                yield f"{name} includes {included}: {own} may include {', '.join(sorted(ARROWS[own]))}"
            if own == "passes" and layer(included) == "passes" and name.split("/")[1] != included.split("/")[1]:
                yield f"{name} includes {included}: phases do not know each other"


def runtime_links_little(build):
    library = os.path.join(build, "lib", "libstator_runtime.so")
    if not os.path.exists(library):
        yield f"{library} is not built"
        return
    needed = re.findall(r"NEEDED\).*\[(.*)\]", subprocess.run(["readelf", "-d", library], capture_output=True,
                                                              text=True, check=True).stdout)
    if any(name.startswith(("libasan", "libubsan", "libtsan")) for name in needed):
        print("  note: built with sanitizers, so what the runtime links is not what it ships with")
        return
    for name in needed:
        if not name.startswith(RUNTIME_NEEDS):
            yield f"libstator_runtime.so needs {name}"
    sections = subprocess.run(["readelf", "-S", library], capture_output=True, text=True, check=True).stdout
    size = os.path.getsize(os.path.realpath(library))
    if size >= 5_000_000 and ".debug_info" not in sections:
        yield f"libstator_runtime.so has {size} bytes; the limit is 5 MB"


def one_registration():
    homes = {r"\bregistry\.insert<": "compiler/Registration.cpp", r"\bregister\w+Passes\(\);": "compiler/Registration.cpp",
             r"\bPhase table\[\]": "compiler/Phases.cpp"}
    for name in sources("dialects", "passes", "codegen", "compiler", "tools"):
        text = without_comments(read(ROOT, name))
        for pattern, home in homes.items():
            if re.search(pattern, text) and name != home:
                yield f"{name} has what belongs into {home}: {pattern}"


def licence_lines():
    code = (".cpp", ".h", ".c", ".td", ".py", ".sh", ".cmake", ".mlir", ".map")
    for name in tracked(ROOT):
        if not (name.endswith(code) or name.endswith("CMakeLists.txt")) or name.startswith("third_party/"):
            continue
        if "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception" not in "\n".join(read(ROOT, name).split("\n")[:3]):
            yield f"{name} does not begin with its licence"


def file_lengths():
    for name in tracked(ROOT):
        if not name.endswith((".cpp", ".h", ".c", ".td", ".py")) or name.startswith("third_party/"):
            continue
        lines = read(ROOT, name).count("\n")
        if lines > 800:
            yield f"{name} has {lines} lines; 800 are the limit"
        elif lines > 500:
            print(f"  note: {name} has {lines} lines")


def no_globals(build):
    for name in sources("dialects", "passes", "codegen", "compiler", "runtime"):
        if re.search(r"\bcl::(opt|list)\b", without_comments(read(ROOT, name))):
            yield f"{name} has a command-line option: those stand under tools/"
    if not build:
        return
    folder = os.path.join(build, "lib")
    for library in sorted(os.listdir(folder)):
        if not (library.startswith("libstator_") and library.endswith(".a")) or "pch" in library or "_sim" in library:
            continue
        table = subprocess.run(["objdump", "-t", "-C", os.path.join(folder, library)], capture_output=True,
                               text=True, check=True).stdout
        for line in table.splitlines():
            match = re.match(r"[0-9a-f]+ (.{7}) (\.bss\S*|\.data(?:\.(?!rel)\S*)?)\s+[0-9a-f]+ (?:\.hidden )?(.*)", line)
            if not match or "O" not in match.group(1):
                continue
            symbol = match.group(3)
            if re.search(r"TypeIDResolver|resolveTypeID\(\)::id|getAttributeNames\(\)::attrNames|std::__ioinit|guard variable|^_?(Z|mlir::|llvm::)", symbol):
                continue
            if not any(known in symbol for known in STATICS):
                yield f"{library} keeps a variable between calls: {symbol}"


def no_drawers():
    for name in tracked(ROOT):
        parts = name.lower().split("/")
        for part in parts:
            if re.fullmatch(r"(.*[_-])?(utils?|common|misc|helpers?)(\..*)?", part) or \
                    re.search(r"(Utils?|Common|Misc|Helpers?)\.(cpp|h|td|py)$", name):
                yield f"{name}: name the idea instead"
                break


def folders_of_the_map():
    text = read(ROOT, "ARCHITECTURE.md")
    named = {path.rstrip("/") for path in re.findall(r"`([a-z][\w./-]*/[\w./-]*)`", text)}
    for path in sorted(named):
        if not os.path.exists(os.path.join(ROOT, path)):
            yield f"ARCHITECTURE.md names {path}, which does not exist"
    folders = set()
    for name in tracked(ROOT, *SOURCES, "tests", "docs"):
        parts = name.split("/")[:-1]
        for depth in (1, 2):
            if len(parts) >= depth:
                folders.add("/".join(parts[:depth]))
    for folder in sorted(folders):
        if folder not in named and not any(path.startswith(folder + "/") for path in named):
            yield f"ARCHITECTURE.md does not name {folder}"


def passes_documented():
    for name in tracked(ROOT, "passes"):
        if not name.endswith("Passes.td"):
            continue
        folder = os.path.dirname(name)
        phase = os.path.basename(folder)
        if not os.path.exists(os.path.join(ROOT, folder, "README.md")):
            yield f"{folder} has no README.md that states the phase's contract"
        definitions = re.split(r"\n(?=def )", read(ROOT, name))
        for definition in definitions:
            match = re.match(r'def (\w+) : Pass<"([\w-]+)"', definition)
            if not match:
                continue
            title, argument = match.groups()
            if "summary = " not in definition or "description = " not in definition:
                yield f"{title} has no summary and description"
            if not os.path.exists(os.path.join(ROOT, folder, title + ".cpp")):
                yield f"{title} does not stand in {folder}/{title}.cpp"
            if not argument.startswith("stator-"):
                yield f"{title}: its argument {argument} does not begin with stator-"
            test = f"tests/passes/{phase}/{argument.removeprefix('stator-')}.mlir"
            if not os.path.exists(os.path.join(ROOT, test)) or "--" + argument not in read(ROOT, test):
                yield f"{title} has no test {test} that runs --{argument}"
    phases = re.findall(r'^\s*\{"(\w+)", "([\w/]+)"', read(ROOT, "compiler/Phases.cpp"), re.M)
    for phase, folder in phases:
        if not os.path.isdir(os.path.join(ROOT, folder)):
            yield f"phase {phase} is said to stand in {folder}, which does not exist"
        if not any(name.startswith((f"tests/{folder}/", f"tests/{folder}.mlir")) and name.endswith(".mlir")
                   for name in tracked(ROOT, "tests")):
            yield f"phase {phase} has no text test at tests/{folder}.mlir or in tests/{folder}"


def known_failures(build):
    """tests/known-failures.md: `| test | known-fail or skip | reason |`. A test that is switched off stands there."""
    rows = {}
    for line in read(ROOT, "tests/known-failures.md").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 3 or cells[0] in ("test", "") or set(cells[0]) <= set("-: "):
            continue
        name, state, reason = cells
        if state not in ("known-fail", "skip"):
            yield f"known-failures.md: {name} has state '{state}'; known-fail and skip are the states, and pass is every other test's"
        if len(reason) < 10:
            yield f"known-failures.md: {name} needs a reason"
        rows[name.strip("`")] = state
    switches = re.compile(r"\b(GTEST_SKIP|DISABLED_\w+)|^// (XFAIL|UNSUPPORTED):|\b(WILL_FAIL|SKIP_RETURN_CODE)\b", re.M)
    for name in tracked(ROOT, "tests"):
        if name.startswith("tests/house/") or not name.endswith((".cpp", ".h", ".mlir", "CMakeLists.txt", ".cmake")):
            continue
        for match in switches.finditer(read(ROOT, name)):
            if not any(row in name or row in match.group(0) for row in rows):
                yield f"{name} switches tests off ({match.group(0)}) and does not stand in tests/known-failures.md"
    if build and rows:
        names = subprocess.run(["ctest", "--test-dir", build, "-N"], capture_output=True, text=True, check=True).stdout
        for row in rows:
            if row not in names and not os.path.exists(os.path.join(ROOT, row)):
                yield f"known-failures.md: there is no test {row}"


def nothing_generated():
    for name in tracked(ROOT):
        if re.search(r"(^|/)(build|__pycache__|\.vscode|CMakeFiles)/|\.(o|a|so|pyc|orig|rej|stator|cubin|h\.inc|cpp\.inc)$", name):
            yield f"{name} is generated or a leftover"


def formatted():
    tool = shutil.which("clang-format-22")
    names = [name for name in sources(*SOURCES, "tests", endings=(".cpp", ".h", ".c"))]
    if not tool:
        print(f"  note: clang-format-22 is absent, so the format of {len(names)} files is not checked")
        return
    output = subprocess.run([tool, "--dry-run", *names], cwd=ROOT, capture_output=True, text=True, check=False).stderr
    dirty = sorted(set(re.findall(r"^([^:\n]+):\d+:\d+: warning", output, re.M)))
    limit = int(read(ROOT, "tests/house/unformatted.txt").split()[0])
    print(f"  note: {len(dirty)} of {len(names)} files differ from clang-format's layout; {limit} are allowed")
    if len(dirty) > limit:
        yield f"{len(dirty)} files are not as clang-format-22 writes them, {limit} are allowed: {' '.join(dirty)}"


def every_error_tested():
    """tests/house/untested-errors.txt lists what no test expects yet; it only gets shorter. Lines `text # reason`."""
    known = {}
    for line in read(ROOT, "tests/house/untested-errors.txt").splitlines():
        if line and not line.startswith("#"):
            text, _, reason = line.partition(" # ")
            known[text] = reason
    total, missing = diagnostics.uncovered(ROOT)
    texts = {re.sub(r"\s+", " ", text) for _, _, text in missing}
    for name, line, text in missing:
        if re.sub(r"\s+", " ", text) not in known:
            yield f"{name}:{line}: no test expects this error: {text!r}"
    for text in known:
        if text not in texts:
            yield f"untested-errors.txt: a test expects this now, or it is gone: {text!r}"
    print(f"  note: {total} error texts, {len(texts)} without a test, of which {sum(map(bool, known.values()))} cannot be reached")


def list_untested():
    """Writes tests/house/untested-errors.txt anew, with the reasons that stand there."""
    path = os.path.join(ROOT, "tests/house/untested-errors.txt")
    lines = read(ROOT, "tests/house/untested-errors.txt").splitlines()
    head = [line for line in lines if line.startswith("#")]
    reasons = {text: reason for text, _, reason in (line.partition(" # ") for line in lines if not line.startswith("#"))}
    texts = sorted({re.sub(r"\s+", " ", text) for _, _, text in diagnostics.uncovered(ROOT)[1]})
    with open(path, "w", encoding="utf-8") as file:
        for line in head + [text + (" # " + reasons[text] if reasons.get(text) else "") for text in texts]:
            file.write(line + "\n")


def main():
    if sys.argv[1:] == ["--list-untested"]:
        return list_untested()
    build = sys.argv[1] if len(sys.argv) > 1 else None
    checks = [include_arrows, one_registration, licence_lines, file_lengths, no_drawers, folders_of_the_map,
              passes_documented, nothing_generated, formatted, every_error_tested]
    with_build = [no_globals, known_failures] + ([runtime_links_little] if build else [])
    failed = 0
    for check in checks + with_build:
        print(check.__name__.replace("_", " "))
        for breach in check(*([build] if check in with_build else [])):
            print("  BREACH:", breach)
            failed += 1
    print(f"{failed} breaches")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
