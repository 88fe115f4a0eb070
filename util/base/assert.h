// SPDX-License-Identifier: Apache-2.0
#pragma once

// VARVE_ASSERT: what must hold whatever users and files do. On in debug and sanitizer builds, where
// a broken rule prints itself and aborts; a release build pays nothing, not even the evaluation.
// Bytes from disk and arguments from callers never reach one: these are checked, and answered with
// a Status.

#include <cstdio>
#include <cstdlib>

namespace varve {

#ifdef NDEBUG
inline constexpr bool kAssertions = false;
#else
inline constexpr bool kAssertions = true;
#endif

namespace assertions {

[[noreturn]] inline void Fail(const char* rule, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: broken: %s\n", file, line, rule);
  std::fflush(stderr);
  std::abort();
}

}  // namespace assertions
}  // namespace varve

// The condition is compiled in every build, so that it cannot rot, and evaluated where kAssertions
// is set. It has no effects. A comma in it needs no parentheses.
#define VARVE_ASSERT(...)                                            \
  do {                                                               \
    if constexpr (::varve::kAssertions) {                            \
      if (!(__VA_ARGS__)) [[unlikely]] {                             \
        ::varve::assertions::Fail(#__VA_ARGS__, __FILE__, __LINE__); \
      }                                                              \
    }                                                                \
  } while (false)
