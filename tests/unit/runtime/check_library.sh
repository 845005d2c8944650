#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check_library.sh LIBRARY: what the runtime's shared library may weigh, export and need.
set -eu
library=$1
bytes=$(stat -L -c %s "$library")
[ "$bytes" -lt 5000000 ] || { echo "$library has $bytes bytes, 5000000 are allowed"; exit 1; }
foreign=$(nm -D --defined-only "$library" | awk '{print $3}' | grep -v '^stator_' || true)
[ -z "$foreign" ] || { echo "$library exports more than the C API:"; echo "$foreign"; exit 1; }
declared=$(sed -n 's/.*STATOR_API.*[ *]\(stator_[a-z_]*\)(.*/\1/p' "$2" | sort)
exported=$(nm -D --defined-only "$library" | awk '{print $3}' | sort)
[ "$declared" = "$exported" ] || { echo "declared and exported functions differ:"; echo "$declared" > /dev/stderr; echo "$exported"; exit 1; }
needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for name in $needed; do
  case $name in
    libc.so.6 | libm.so.6 | libstdc++.so.6 | libgcc_s.so.1 | libpthread.so.0 | libdl.so.2 | ld-linux*) ;;
    *) echo "$library needs $name"; exit 1 ;;
  esac
done
