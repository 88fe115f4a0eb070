// SPDX-License-Identifier: Apache-2.0
#pragma once

// Numbers of table files that a logged edit removed and that no reader holds any more.

#include <cstdint>
#include <vector>

#include "db/version/file_metadata.h"
#include "util/sync/mutex.h"

namespace varve {

// Thread safety: all methods from any thread; its mutex is a leaf.
class ObsoleteFileQueue {
 public:
  // A FileRef whose last release pushes the number here if the file is obsolete by then.
  static FileRef Track(std::shared_ptr<ObsoleteFileQueue> queue,
                       std::unique_ptr<FileMetaData> file);

  std::vector<uint64_t> TakeAll();
  // Those of what was taken whose files are still there.
  void GiveBack(const std::vector<uint64_t>& numbers);
  bool Empty() const;

 private:
  void MakeRoom();
  void Release(uint64_t number, bool obsolete);

  mutable Mutex mu_;
  std::vector<uint64_t> numbers_ VARVE_GUARDED_BY(mu_);
  size_t tracked_ VARVE_GUARDED_BY(mu_) = 0;  // files that somebody holds
};

}  // namespace varve
