# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""print_ptx.py ARTIFACT ARCH: the PTX that an artifact holds for an architecture."""
import sys
import zipfile

with zipfile.ZipFile(sys.argv[1]) as archive:
    sys.stdout.write(archive.read(f"kernels/main.{sys.argv[2]}.ptx").decode())
