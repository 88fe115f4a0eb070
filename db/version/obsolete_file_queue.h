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

  void Push(uint64_t number);
  std::vector<uint64_t> TakeAll();
  bool Empty() const;

 private:
  mutable Mutex mu_;
  std::vector<uint64_t> numbers_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
