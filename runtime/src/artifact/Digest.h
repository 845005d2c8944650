// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The two checksums of an artifact. Both find damage, neither protects against a forger.
#ifndef STATOR_RUNTIME_ARTIFACT_DIGEST_H
#define STATOR_RUNTIME_ARTIFACT_DIGEST_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stator::runtime {

/// CRC-32 as zip uses it (polynomial 0xEDB88320, reflected).
uint32_t crc32(std::string_view data);

/// XXH64 with seed 0 (the algorithm is specified in the xxHash project's doc/xxhash_spec.md).
uint64_t xxh64(std::string_view data);

/// "xxh64:" and 16 hexadecimal digits.
std::string digestText(std::string_view data);

} // namespace stator::runtime
#endif
