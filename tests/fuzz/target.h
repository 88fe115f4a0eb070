// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines a fuzz target: a file with a function in libFuzzer's form, inputs to begin with, and a
// share of the executions. The same file is linked into one program of its own under clang, and
// with all others into fuzz_all, whose driver needs no help from the compiler.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"

namespace varve::fuzz {

using Seeds = std::vector<std::string>;

struct Target {
  const char* name;  // name of its file
  int (*run)(const uint8_t* data, size_t size);
  void (*make_seeds)(Seeds* seeds);  // well-formed inputs, from the engine's own encoders
  uint32_t share;                    // share of all executions, relative to other targets
};

// Returns all targets that are linked in.
std::vector<Target>& Targets();

struct Register {
  explicit Register(const Target& target) { Targets().push_back(target); }
};

// Says that an input did something worth keeping it for: the driver goes on from inputs whose
// features it has not seen. A status' feature is how its text begins.
void Note(uint64_t feature);
void Note(const Status& status);

// Number of noted statuses that are OK. A target without any tests refusals only.
uint64_t& AcceptedCount();

// Returns the features of the present execution; the driver empties it before each.
std::vector<uint64_t>& Noted();

// A broken promise ends the process, as any other finding does.
inline void Promise(bool kept, const char* what) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

// Takes an input apart. When it is used up every number is 0 and every text empty.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : pos_(data), end_(data + size) {}

  [[nodiscard]] bool empty() const { return pos_ == end_; }
  uint8_t Byte() { return pos_ == end_ ? 0 : *pos_++; }
  // Returns a number in [0, n). Requires n <= 256.
  uint32_t Below(uint32_t n) { return Byte() % n; }
  uint32_t Two() { return Byte() | uint32_t{Byte()} << 8; }
  // Takes at most this many bytes.
  Slice Take(size_t n) {
    n = std::min(n, static_cast<size_t>(end_ - pos_));
    const Slice taken(reinterpret_cast<const char*>(pos_), n);
    pos_ += n;
    return taken;
  }
  // Takes a text whose length one byte, or two bytes, give.
  Slice Short() { return Take(Byte()); }
  Slice Long() { return Take(Two()); }
  Slice Rest() { return Take(SIZE_MAX); }

 private:
  const uint8_t* pos_;
  const uint8_t* end_;
};

// Encode, for seeds, what Input::Short and Input::Long decode. Longer texts are cut.
std::string ShortText(std::string_view text);
std::string LongText(std::string_view text);

}  // namespace varve::fuzz
