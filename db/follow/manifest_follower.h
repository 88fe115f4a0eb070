// SPDX-License-Identifier: Apache-2.0
#pragma once

// The MANIFEST of a database that another process writes: read to its end, and read on whenever
// asked, in whichever file it goes on.

#include <cstdint>
#include <memory>
#include <vector>

#include "db/engine/context.h"
#include "db/version/manifest_replay.h"
#include "db/version/version_set.h"
#include "db/wal/log_tail.h"

namespace varve {

// Thread safety: none.
class ManifestFollower {
 public:
  ManifestFollower(const DbContext& context, VersionSet* versions, std::vector<FamilyToOpen> wanted)
      : context_(context), versions_(versions), wanted_(std::move(wanted)) {}

  // Reads what has come since the last call, in the file that CURRENT names. *changed: something
  // has. After an error, or with `anew`, the next call reads the file from its beginning.
  // Corruption and missing files may be the doing of a writer that is quicker.
  Status ReadOn(bool* changed) VARVE_EXCLUDES(kDbMutex);
  // The next call reads from the beginning, and uses no file's metadata again.
  void StartAnew() { tail_.reset(); }

  // After a ReadOn that returned OK.
  ManifestReplay* replay() { return replay_.get(); }
  uint64_t number() const { return number_; }
  uint64_t end() const { return tail_ == nullptr ? 0 : tail_->offset(); }

 private:
  Status OpenCurrent(uint64_t number) VARVE_EXCLUDES(kDbMutex);
  Status TakeRecords(bool* changed);

  const DbContext& context_;
  VersionSet* const versions_;
  const std::vector<FamilyToOpen> wanted_;
  uint64_t number_ = 0;
  std::unique_ptr<wal::LogTail> tail_;
  std::unique_ptr<ManifestReplay> replay_;
};

}  // namespace varve
