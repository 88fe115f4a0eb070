// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the kinds of reads that rows consist of, over keys numbered 0 to n - 1.

#include <cstddef>
#include <cstdint>
#include <functional>

#include "benchmarks/compare/digest.h"
#include "benchmarks/compare/engine.h"
#include "benchmarks/compare/keys.h"

namespace compare {

constexpr size_t kKeysAtOnce = 32;    // keys of a MultiGet
constexpr uint64_t kSeekLength = 10;  // entries that are read after a seek

// Does one operation, with keys drawn by the Random, adds what it reads to the digest, and returns
// how many it counts as.
using Operation = std::function<uint64_t(Session*, Random*, Digest*)>;

// Get a drawn key; get a missing one that lies just behind a drawn one.
Operation GetOf(uint64_t n);
Operation GetOfMissing(uint64_t n);
// Counts keys, kKeysAtOnce a call. They are `stride` apart, or drawn if `stride` is 0.
Operation MultiGetOf(uint64_t n, uint64_t stride);
// Seeks to a drawn key and reads ten entries from there.
Operation SeekOf(uint64_t n);

}  // namespace compare
