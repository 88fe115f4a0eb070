// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the settings of test tools from the environment: the number of cases, and their choice.

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace varve::testing {

inline uint64_t NumberFromEnvironment(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Returns the number that rotates the choice of cases: tools/test sets the number of the commit, so
// that consecutive commits together run all cases. 0 if it is not set.
inline uint64_t Rotation() {
  return NumberFromEnvironment("VARVE_ROTATION", 0);
}

// Unit tests with thousands of similar cases run every SampleStep()-th of them, from FirstSample()
// on.
inline uint64_t SampleStep() {
  const uint64_t step = NumberFromEnvironment("VARVE_SAMPLE_STEP", 3);
  return step == 0 ? 1 : step;
}
inline uint64_t FirstSample() {
  return Rotation() % SampleStep();
}

// Tests that enumerate many similar cases run all of them, and under a sanitizer every
// StepUnderSanitizer()-th, from FirstUnderSanitizer() on: the same change also runs all of them
// without one. Tests of few cases limit the step to `most`.
inline uint64_t StepUnderSanitizer(uint64_t most = UINT64_MAX) {
  return std::clamp<uint64_t>(NumberFromEnvironment("VARVE_SANITIZED_STEP", 1), 1, most);
}
inline uint64_t FirstUnderSanitizer(uint64_t most = UINT64_MAX) {
  return Rotation() % StepUnderSanitizer(most);
}

// Returns the i-th of `count` numbers spread over [1, all]; a rotation reaches every number.
inline uint64_t SpreadCase(uint64_t i, uint64_t count, uint64_t all) {
  return 1 + i * all / count + Rotation() % (all / count);
}

}  // namespace varve::testing
