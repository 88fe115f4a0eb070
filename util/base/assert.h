// SPDX-License-Identifier: Apache-2.0
#pragma once

// VARVE_ASSERT states a condition that must hold whatever users and files do. Debug and sanitizer
// builds check it, print a violation and abort; release builds do not evaluate it. Bytes from disk
// and arguments from callers are never asserted: they are checked and answered with a Status.

#include <cstdio>
#include <cstdlib>

namespace varve {

#ifdef NDEBUG
inline constexpr bool kAssertions = false;
#else
inline constexpr bool kAssertions = true;
#endif

namespace assertions {

// Prints the violated condition with its place in the source, and aborts the process.
[[noreturn]] inline void Fail(const char* rule, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: broken: %s\n", file, line, rule);
  std::fflush(stderr);
  std::abort();
}

}  // namespace assertions
}  // namespace varve

// The condition is compiled in every build, so that it stays valid code, and evaluated only if
// kAssertions is set. It must have no side effects. A comma in it needs no parentheses.
#define VARVE_ASSERT(...)                                            \
  do {                                                               \
    if constexpr (::varve::kAssertions) {                            \
      if (!(__VA_ARGS__)) [[unlikely]] {                             \
        ::varve::assertions::Fail(#__VA_ARGS__, __FILE__, __LINE__); \
      }                                                              \
    }                                                                \
  } while (false)
