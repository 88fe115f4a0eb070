// SPDX-License-Identifier: Apache-2.0

// The file is created again only when at least twice its size is free, so that the reserve does not
// itself fill the disk.

#include "db/background/space_reserve.h"

#include <algorithm>
#include <memory>
#include <string>

#include "util/base/assert.h"
#include "util/env/info_log.h"

namespace varve {

namespace {

constexpr size_t kPieceBytes = 1 << 20;

}  // namespace

void SpaceReserve::Start() {
  if (context_.options().reserve_bytes == 0) return;
  uint64_t bytes = 0;
  // A file of another size is made anew.
  if (context_.fs()->GetFileSize(Path(), IOOptions(), &bytes, nullptr).ok()) {
    held_.store(bytes == context_.options().reserve_bytes, std::memory_order_relaxed);
  }
  wanted_.store(true, std::memory_order_relaxed);
  TakeIfThereIsRoom();
}

void SpaceReserve::RemoveFile() {
  context_.fs()->DeleteFile(Path(), IOOptions(), nullptr).PermitUncheckedError();
}

// Called when the disk is full. Does nothing if the file does not exist.
void SpaceReserve::ReleaseSpace() {
  MutexLock lock(&mu_);
  if (!held_.load(std::memory_order_relaxed)) return;
  // Set before the deletion: if that fails, the file is overwritten later, or found by the next
  // opening.
  held_.store(false, std::memory_order_relaxed);
  const IOStatus s = context_.fs()->DeleteFile(Path(), IOOptions(), nullptr);
  LogWarn(context_.info_log(), "the disk is full: releasing %llu bytes of its reserve: %s",
          static_cast<unsigned long long>(context_.options().reserve_bytes), s.ToString().c_str());
}

// A failure is only logged, and an incomplete file is deleted.
void SpaceReserve::TakeIfThereIsRoom() {
  MutexLock lock(&mu_);
  if (!Lacks()) return;
  const uint64_t bytes = context_.options().reserve_bytes;
  uint64_t free_bytes = 0;
  IOStatus s = context_.fs()->GetFreeSpace(context_.name(), IOOptions(), &free_bytes, nullptr);
  // If the file system does not support this, a lack of space is reported when the file is written.
  if (s.ok() && free_bytes / 2 < bytes) return;
  s = MakeFile();
  if (s.ok()) {
    held_.store(true, std::memory_order_relaxed);
    return;
  }
  LogWarn(context_.info_log(), "%s could not be made: %s", Path().c_str(), s.ToString().c_str());
  context_.fs()->DeleteFile(Path(), IOOptions(), nullptr).PermitUncheckedError();
}

// Writes the whole file, since a sparse file reserves nothing, and not every file system supports
// allocation.
IOStatus SpaceReserve::MakeFile() {
  VARVE_ASSERT(context_.options().reserve_bytes > 0);
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = context_.fs()->NewWritableFile(Path(), FileOptions(), &file, nullptr);
  const std::string zeros(kPieceBytes, '\0');
  uint64_t left = context_.options().reserve_bytes;
  while (s.ok() && left > 0) {
    const size_t piece = static_cast<size_t>(std::min<uint64_t>(left, zeros.size()));
    s = file->Append(Slice(zeros.data(), piece), IOOptions(), nullptr);
    left -= piece;
    if (lifecycle_.shutting_down()) {
      s = IOStatus::Aborted("the database is being closed");
    }
  }
  if (s.ok()) s = file->Sync(IOOptions(), nullptr);
  if (file == nullptr) return s;
  IOStatus closed = file->Close(IOOptions(), nullptr);
  return s.ok() ? closed : s;
}

}  // namespace varve
