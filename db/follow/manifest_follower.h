// SPDX-License-Identifier: Apache-2.0
#pragma once

// Follows the MANIFEST of a database that another process writes: reads it to its end, and reads on
// whenever asked, in whichever file it continues.

#include <cstdint>
#include <memory>
#include <vector>

#include "db/engine/context.h"
#include "db/version/manifest_replay.h"
#include "db/version/version_set.h"
#include "db/wal/log_tail.h"

namespace varve {

// Thread safety: none. The context and the versions are borrowed.
class ManifestFollower {
 public:
  ManifestFollower(const DbContext& context, VersionSet* versions, std::vector<FamilyToOpen> wanted)
      : context_(context), versions_(versions), wanted_(std::move(wanted)) {}

  // Reads the new records of the file that CURRENT names. Sets *changed to true if there were any,
  // or if that is another file than before, and otherwise to false. After an error, or StartAnew,
  // the next call reads the file from its beginning. Corruption and missing files may come from a
  // faster writer.
  Status ReadOn(bool* changed) VARVE_EXCLUDES(kDbMutex);
  // Makes the next call read from the beginning, and use no file's metadata again.
  void StartAnew() { tail_.reset(); }

  // Valid after a ReadOn that returned OK.
  ManifestReplay* replay() { return replay_.get(); }
  uint64_t number() const { return number_; }
  uint64_t end() const { return tail_ == nullptr ? 0 : tail_->offset(); }

 private:
  // Opens the MANIFEST of this number, and begins a replay.
  Status OpenCurrent(uint64_t number) VARVE_EXCLUDES(kDbMutex);
  // Applies the new records.
  Status TakeRecords(bool* changed);

  const DbContext& context_;
  VersionSet* const versions_;
  const std::vector<FamilyToOpen> wanted_;
  uint64_t number_ = 0;
  std::unique_ptr<wal::LogTail> tail_;
  std::unique_ptr<ManifestReplay> replay_;
};

}  // namespace varve
