// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns what the names of column families say in this folder: how a family merges, and whether it
// keeps versions. So the list of families decides what is proved:
//   texts     operands are appended, with a comma between
//   sums      operands are numbers, which are added
//   versions  has timestamps, and merges as texts does
//   bare      the same, but its tables keep no timestamps; needs options of Allows()
// and all others are plain.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/options.h"

namespace varve::testing {

bool HasSums(const std::string& family);
bool HasTexts(const std::string& family);  // those with timestamps too
bool HasVersions(const std::string& family);
bool IsBare(const std::string& family);

// Merge operator, comparator and what else the name asks for.
void TuneFamily(const std::string& family, ColumnFamilyOptions* options);
// Whether such options may have such families.
bool Allows(const DBOptions& options, const std::vector<std::string>& families);

// The number in 8 bytes: a timestamp, or a number to be added.
std::string Stamp(uint64_t number);
uint64_t NumberOfTimestamp(const std::string& bytes);  // 0 unless 8 bytes

// What one operand makes of a value; null: of nothing.
std::string Merged(const std::string& family, const std::string* value, const std::string& operand);

// Options of a reader as of a timestamp, in families that have any.
class ReadingAsOf {
 public:
  ReadingAsOf(const std::string& family, uint64_t timestamp)
      : bytes_(Stamp(timestamp)), slice_(bytes_) {
    if (HasVersions(family)) options_.timestamp = &slice_;
  }
  ReadingAsOf(const ReadingAsOf&) = delete;
  ReadingAsOf& operator=(const ReadingAsOf&) = delete;

  const ReadOptions& options() const { return options_; }

 private:
  const std::string bytes_;
  const Slice slice_;
  ReadOptions options_;
};

// The mark below which the family's history need not be kept; 0 when there is none.
Status MarkOf(DB* db, ColumnFamilyHandle* handle, uint64_t* mark);

}  // namespace varve::testing
