// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the meaning of column family names in this folder: how a family merges, and if it keeps
// versions. So the list of families decides what is tested:
//   texts     operands are appended, with a comma between
//   sums      operands are numbers, which are added
//   versions  has timestamps, and merges as texts does
//   bare      the same, but its tables keep no timestamps; needs options of Allows()
//   rows      has PlainTables, which hold no range deletions
//   columns   every value is an entity of three columns
// All others are plain.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/options.h"

namespace varve::testing {

bool HasSums(const std::string& family);
bool HasTexts(const std::string& family);  // Includes those with timestamps.
bool HasVersions(const std::string& family);
bool IsBare(const std::string& family);
bool HasPlainTables(const std::string& family);
bool HasColumns(const std::string& family);

// Sets merge operator, comparator and other options that the name requires.
void TuneFamily(const std::string& family, ColumnFamilyOptions* options);
// True if such options may have such families.
bool Allows(const DBOptions& options, const std::vector<std::string>& families);

// Encodes the number in 8 bytes, as a timestamp or as a number to be added.
std::string Stamp(uint64_t number);
uint64_t NumberOfTimestamp(const std::string& bytes);  // 0 unless there are 8 bytes.

// Returns the value after merging one operand; a null `value` is none.
std::string Merged(const std::string& family, const std::string* value, const std::string& operand);

// Read options as of a timestamp, in families that have timestamps.
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

// Sets *mark to the timestamp below which the family's history need not be kept; 0 if there is
// none.
Status MarkOf(DB* db, ColumnFamilyHandle* handle, uint64_t* mark);

}  // namespace varve::testing
