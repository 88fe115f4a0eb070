// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tools of proof are told by the environment: how many cases, and which of them.

#include <cstdint>
#include <cstdlib>

namespace varve::testing {

inline uint64_t NumberFromEnvironment(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// A tool that takes some of its cases takes others at each commit: tools/test says the number of
// the commit, so that commits one after the other go through all of them. Without it, the first.
inline uint64_t Rotation() {
  return NumberFromEnvironment("VARVE_ROTATION", 0);
}

// Unit tests with thousands of like cases take every so many-th of them, from this one on.
inline uint64_t SampleStep() {
  const uint64_t step = NumberFromEnvironment("VARVE_SAMPLE_STEP", 3);
  return step == 0 ? 1 : step;
}
inline uint64_t FirstSample() {
  return Rotation() % SampleStep();
}

// The i-th of `count` numbers spread over [1, all], among which a rotation comes to every one.
inline uint64_t SpreadCase(uint64_t i, uint64_t count, uint64_t all) {
  return 1 + i * all / count + Rotation() % (all / count);
}

}  // namespace varve::testing
