// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds scripts for the drivers (see driver.h), and the state that they must lead to.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/harness/random.h"
#include "tests/model/reference.h"

namespace varve::testing {

std::string ToHex(const std::string& bytes);  // "-" for nothing, as scripts have it

// Describes the content of a written directory and how it is written.
struct Content {
  uint64_t seed = 1;
  std::vector<std::string> families = {"default"};
  int rounds = 3;  // each ends with a flush
  bool range_deletes = false;
  bool single_deletes = false;
  bool large_values = false;  // some span several 32 KiB blocks of the log
  bool snapshots = false;     // old versions must be kept when compacting
  bool compactions = false;
  bool pending = false;     // the last changes are only in the log, and the process just ends
  bool plain_keys = false;  // no empty or binary keys, for tools that print keys as text
};

// Holds the families' states and the script so far.
class Script {
 public:
  explicit Script(const std::vector<std::string>& families) {
    for (const std::string& family : families) state_.families[family];
  }

  // Continues from a state.
  explicit Script(const ReferenceState& state) : state_(state) {}

  void Line(const std::string& text) { text_ += text + "\n"; }
  // Adds the change and applies it to the state.
  void Do(const Change& change);
  // Does so with a put as an entity (see driver.h).
  void DoEntity(const Change& put);
  // Writes, flushes and compacts as `content` says. Several calls continue each other.
  void Write(const Content& content);
  // Adds expectations of all that exists, a sample of what does not, and the comparison. `state`
  // may be another script's.
  void Expect(const ReferenceState& state);
  // Does so with these keys as those of which the ones that do not exist are asked for.
  void Expect(const ReferenceState& state, const std::set<std::string>& absent);

  const std::string& text() const { return text_; }
  const ReferenceState& state() const { return state_; }

 private:
  void WriteRound(const Content& content, Random* random);
  Change RandomChange(const Content& content, Random* random, const std::string& family);

  std::string text_;
  ReferenceState state_;
  uint64_t once_ = 0;  // keys that are put once and then singly deleted: a number each
};

}  // namespace varve::testing
