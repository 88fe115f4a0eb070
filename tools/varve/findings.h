// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collects and prints what the command `check` finds in files.

#include <cstdint>
#include <string>

#include "tools/varve/console.h"

namespace varve::tool {

// Prints each finding when it comes, and counts. Not thread-safe.
class Findings {
 public:
  explicit Findings(Console* console) : console_(console) {}

  // Reports damage of a file, and sets Console::found. The text names the offset where there is
  // one.
  void Damage(const std::string& file, const std::string& what);
  // Reports something that is no damage, such as the end that a crash leaves.
  void Remark(const std::string& file, const std::string& what);

  // Counts a file that was read, and its bytes, for the summary.
  void CountFile(uint64_t bytes) { files_++, bytes_ += bytes; }
  // Prints the numbers of damages, files and bytes. Called once, last.
  void PrintSummary();

 private:
  void Print(const char* kind, const std::string& file, const std::string& what);

  Console* const console_;
  uint64_t damages_ = 0;
  uint64_t files_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace varve::tool
