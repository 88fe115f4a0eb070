// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes XXH3 of blocks with instructions that not every x86 processor has.

#include <cstddef>
#include <cstdint>

namespace varve::hash_x86 {

// Returns the lower 32 bits of the 64-bit hash with seed 0.
using Xxh3Function = uint32_t (*)(const char* data, size_t n);

// Returns a function that uses AVX2; null if this processor lacks that.
Xxh3Function FindXxh3();

}  // namespace varve::hash_x86
