# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Text tests: a .mlir file says in its RUN lines what is run and in its CHECK lines what must come out.
import sys

import lit.formats

config.name = "stator"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "install", "models", "fuzz", "counters"]
config.substitutions.append(("%models", config.test_source_root + "/models"))
config.test_exec_root = config.build_root + "/tests"
for name, path in [
    ("stator-opt", config.build_root + "/bin/stator-opt"),
    ("stator-lsp-server", config.build_root + "/bin/stator-lsp-server"),
    ("stator", config.build_root + "/bin/stator"),
    ("FileCheck", config.llvm_tools + "/FileCheck"),
    ("llvm-as", config.llvm_tools + "/llvm-as"),
    ("print-ptx", sys.executable + " " + config.test_source_root + "/codegen/print_ptx.py"),
]:
    # A whole word at the place of a command: not part of a path, nor of another tool's name.
    config.substitutions.append((r"(?<![-./\w])%s(?![-./\w])" % name, path))
