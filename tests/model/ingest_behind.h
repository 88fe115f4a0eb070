// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files that are ingested beneath all data of a family, and which of their entries show: a key that
// was never written gets the file's value, in every snapshot, too; a key with a value or a
// tombstone keeps what it has.

#include <map>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/env.h"

#include "tests/harness/random.h"
#include "tests/model/data_moves.h"
#include "tests/model/reference.h"

namespace varve::testing {

class IngestBehind {
 public:
  // `keys` are all keys that the run may write.
  IngestBehind(Random* random, Env* env, std::vector<std::string> keys);

  void AddFamily(const std::string& name) { histories_[name].resize(keys_.size()); }
  // Notes a family about whose keys nothing is known; no file is ingested into it.
  void AddUnknown(const std::string& name) { histories_[name].clear(); }
  void DropFamily(const std::string& name) { histories_.erase(name); }
  // Notes a change that was written. The family must have been added.
  void Note(const Change& change, const Comparator* order);
  // Notes that a key's entries may have gone without a tombstone.
  void NoteRemoved(const std::string& family, const std::string& key);

  struct Result {
    std::vector<Change> shown;      // Puts of keys that were never written.
    std::vector<std::string> keys;  // All keys of the file: beneath each may lie a value now.
    std::string family;             // Empty: nothing was ingested.
  };
  // Ingests one file into one of the families.
  Result Ingest(const Modelled& run, const DataMoves::Draw& value);

 private:
  enum class History : unsigned char {
    kUntouched,
    kPlain,  // The newest entry is a value or a tombstone that hides all older entries.
    kOther,
  };

  // Returns the keys of the next file, in the family's order: neighbours, so that files seldom
  // overlap.
  std::vector<size_t> DrawKeys(const Modelled& run, const std::vector<History>& histories);

  Random* const random_;
  Env* const env_;
  const std::vector<std::string> keys_;
  std::map<std::string, std::vector<History>> histories_;
  std::map<std::string, int> files_in_;  // files that were ingested, by family
  int files_ = 0;
};

}  // namespace varve::testing
