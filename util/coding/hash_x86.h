// SPDX-License-Identifier: Apache-2.0
#pragma once

// XXH3 of blocks with instructions that not every x86 processor has.

#include <cstddef>
#include <cstdint>

namespace varve::hash_x86 {

// Seed 0, the lower half of 64 bits.
using Xxh3Function = uint32_t (*)(const char* data, size_t n);

// For this processor; null where the common form is as good.
Xxh3Function FindXxh3();

}  // namespace varve::hash_x86
