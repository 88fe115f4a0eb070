// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps the OPTIONS file what the options in force are.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "db/background/engine.h"
#include "util/options/options_file.h"

namespace varve {

// A small file is written before the change that it tells of returns. With many families it takes
// long: then it follows soon, by a job, which tells of all changes that have come until it begins;
// whoever changes options next is told if it failed, and Close writes what is still to be written.
class OptionsKeeper {
 public:
  explicit OptionsKeeper(Engine* engine) : engine_(engine) {}

  // Options, or the set of families, have changed. Takes mu. The answer is that of writing the
  // file, which is done now if a job has failed with it.
  Status Changed();
  // Returns when the file has all changes whose calls have returned. Takes mu.
  Status Settle();
  // The same, with jobs taken back. No change follows. Takes mu.
  Status Stop();

  // For the timer. Hands the job out if it is due; the answer: in how many microseconds to look
  // again, if something is to be written. Requires mu.
  uint64_t HandOut(uint64_t now);

  // Of the file in force; 0: none was written. Requires mu.
  uint64_t number() const { return files_.empty() ? 0 : files_.back(); }

 private:
  // As it was when it was last written, for as long as the family has the same options.
  struct Known {
    std::shared_ptr<const ColumnFamilyOptions> options;
    std::shared_ptr<const FamilyOptionsText> text;
  };
  struct Content;
  struct ByText {
    bool operator()(const std::shared_ptr<const FamilyOptionsText>& a,
                    const std::shared_ptr<const FamilyOptionsText>& b) const;
  };

  static void RunJob(void* self);
  // These two require mu, and let go of it.
  Status WriteUpTo(uint64_t change);
  Status WriteOne();
  Content Collect();  // requires mu
  std::string Format(const Content& content);
  std::shared_ptr<const FamilyOptionsText> TextOf(
      const std::shared_ptr<const ColumnFamilyOptions>& options);
  // Requires mu; lets go of it.
  void DeleteOlder();

  Engine* const engine_;
  // --- Guarded by mu
  std::vector<uint64_t> files_;  // that are there, ascending
  bool listed_ = false;          // files_ has those of earlier openings, too
  uint64_t wanted_ = 0;          // changes so far
  uint64_t told_ = 0;            // of them, those that the file tells of
  uint64_t promised_ = 0;        // and those that it is going to tell of, with nobody waiting
  bool writing_ = false;         // somebody is at it
  bool handed_out_ = false;
  Status failure_;               // of the last writing
  size_t last_bytes_ = 0;        // of the file
  uint64_t changed_micros_ = 0;  // when the oldest change came that is not told
  uint64_t pause_end_ = 0;       // no job begins before
  // --- Of whoever is writing
  std::map<uint32_t, Known> known_;
  // Families with the same options share a text.
  std::set<std::shared_ptr<const FamilyOptionsText>, ByText> texts_;
};

}  // namespace varve
