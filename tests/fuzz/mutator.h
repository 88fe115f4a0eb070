// SPDX-License-Identifier: Apache-2.0
#pragma once

// Damages inputs in the ways that decoders mind: single bits, numbers at the edges of their types,
// varints that do not end, pieces moved, doubled, left out or taken from another input.

#include <string>

#include "tests/harness/random.h"

namespace varve::fuzz {

// Makes the same inputs from the same seed. Thread safety: one thread may use it.
class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  testing::Random& random() { return random_; }
  // Makes one to a few changes of `input`, some with pieces of `other`. The result has at most
  // `most` bytes.
  std::string Mutate(std::string input, const std::string& other, size_t most);

 private:
  void ChangeOnce(std::string* input, const std::string& other);
  void OverwriteNumber(std::string* input);
  void OverwriteVarint(std::string* input);
  void AdjustNumber(std::string* input);
  void Insert(std::string* input);
  void Erase(std::string* input);
  void CopyWithin(std::string* input);
  void Splice(std::string* input, const std::string& other);
  size_t Place(const std::string& input) { return random_.Below(input.size()); }
  // Returns a length from `at` on, mostly of a few bytes.
  size_t Length(const std::string& input, size_t at);

  testing::Random random_;
};

}  // namespace varve::fuzz
