// SPDX-License-Identifier: Apache-2.0
#pragma once

// ManifestFollower reads the MANIFEST of a database that another process writes. Each call reads
// the new records, and follows CURRENT to a new MANIFEST.

#include <cstdint>
#include <memory>
#include <vector>

#include "db/engine/context.h"
#include "db/version/manifest_replay.h"
#include "db/version/version_set.h"
#include "db/wal/log_tail.h"

namespace varve {

// Thread safety: none. The context and the version set are borrowed.
class ManifestFollower {
 public:
  ManifestFollower(const DbContext& context, VersionSet* versions, std::vector<FamilyToOpen> wanted)
      : context_(context), versions_(versions), wanted_(std::move(wanted)) {}

  // Reads the new records of the file that CURRENT names. Sets *changed to whether there were any,
  // or CURRENT names another file than before. After an error, or StartAnew, the next call reads
  // the file from its beginning. Corruption and missing files may be caused by a writer that is
  // faster, so the caller should retry.
  Status ReadOn(bool* changed) VARVE_EXCLUDES(kDbMutex);
  // Makes the next ReadOn read the file from its beginning.
  void StartAnew() { tail_.reset(); }

  // Return the state that was read, the number of the MANIFEST, and the offset up to which it was
  // read. Valid after a ReadOn that returned OK.
  ManifestReplay* replay() { return replay_.get(); }
  uint64_t number() const { return number_; }
  uint64_t end() const { return tail_ == nullptr ? 0 : tail_->offset(); }

 private:
  // Opens the MANIFEST of this number, and begins its replay.
  Status OpenCurrent(uint64_t number) VARVE_EXCLUDES(kDbMutex);
  // Applies the new records. Sets *changed to true if there is one, and leaves it otherwise.
  Status TakeRecords(bool* changed);

  const DbContext& context_;
  VersionSet* const versions_;
  const std::vector<FamilyToOpen> wanted_;
  uint64_t number_ = 0;
  std::unique_ptr<wal::LogTail> tail_;
  std::unique_ptr<ManifestReplay> replay_;
};

}  // namespace varve
