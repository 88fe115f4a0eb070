// SPDX-License-Identifier: Apache-2.0
#pragma once

// Plays a history on two libraries, each in its own process, and compares the answers. A process
// ends at each "crash" without closing anything, and the next one continues in its directory or,
// after "crash swap", in the other's. A process that dies or hangs is a finding if it is Varve's;
// if it is the other's, the lines that cannot be compared are counted.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/differential/c_api.h"
#include "tests/differential/meant_differences.h"
#include "tests/harness/history_text.h"

namespace varve::testing {

struct Comparison {
  bool differs = false;
  size_t line = 0;  // where it does
  std::string ours;
  std::string theirs;
  std::vector<std::string> answers;  // Varve's, of the lines that were compared
  uint64_t compared = 0;             // lines that both answered
  uint64_t meant = 0;                // among them with answers that are meant to differ
  bool stopped = false;              // by one after which nothing is comparable
  bool theirs_failed = false;        // the other's process died or hung
};

class CaseRunner {
 public:
  // All arguments must outlive this. Databases are made below `directory`.
  CaseRunner(const CApi* ours, const CApi* theirs, const MeantDifferences* meant,
             std::string directory);

  Comparison Run(const History& history);

 private:
  struct Side;
  // Compares the lines from `from` on with the answers of the segment.
  void Compare(const History& history, size_t from, size_t to, const Side& ours, const Side& theirs,
               Comparison* result) const;

  const CApi* const ours_;
  const CApi* const theirs_;
  const MeantDifferences& meant_;
  const std::string directory_;
};

// Returns lines and answers, one below the other.
std::string Trace(const History& history, const Comparison& comparison);
// Returns a difference as text: the line and both answers.
std::string Explained(const History& history, const Comparison& comparison);

}  // namespace varve::testing
