// SPDX-License-Identifier: Apache-2.0

// Contains xxHash compiled once more with AVX2 vectors: a program for every x86 processor may run
// them only after it has checked the processor.

#include "util/coding/hash_x86.h"

#if defined(__x86_64__) && defined(__GNUC__)

// These headers come before the target is changed: their functions must use the default
// instructions.
#include <immintrin.h>

#include <cstdlib>
#include <cstring>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
#define XXH_INLINE_ALL
#define XXH_VECTOR 2  // The value of XXH_AVX2.
#include <xxhash.h>

namespace varve::hash_x86 {
namespace {

// The hash is the same with every width of vectors, so a table that one machine has written can be
// read on another.
uint32_t Xxh3Avx2(const char* data, size_t n) {
  return static_cast<uint32_t>(XXH3_64bits(data, n));
}

}  // namespace
}  // namespace varve::hash_x86

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace varve::hash_x86 {

Xxh3Function FindXxh3() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") ? &Xxh3Avx2 : nullptr;
}

}  // namespace varve::hash_x86

#else

namespace varve::hash_x86 {

Xxh3Function FindXxh3() {
  return nullptr;
}

}  // namespace varve::hash_x86

#endif
