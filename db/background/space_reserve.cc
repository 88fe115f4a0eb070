// SPDX-License-Identifier: Apache-2.0

// Keeps a file of reserve_bytes, which is deleted when the disk is full: recovery from that error
// needs space to flush, and gets it that way even if nobody frees any.
//
// The file is taken again when at least twice its size is free, so that the reserve does not itself
// fill the disk.

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
  if (context_.fs()->GetFileSize(Path(), IOOptions(), &bytes, nullptr).ok()) {
    held_.store(bytes == context_.options().reserve_bytes, std::memory_order_relaxed);
  }
  wanted_.store(true, std::memory_order_relaxed);
  TakeIfThereIsRoom();
}

void SpaceReserve::RemoveFile() {
  context_.fs()->DeleteFile(Path(), IOOptions(), nullptr).PermitUncheckedError();
}

// The caller has met a full disk. Does nothing if there is no reserve.
void SpaceReserve::ReleaseSpace() {
  MutexLock lock(&mu_);
  if (!held_.load(std::memory_order_relaxed)) return;
  // Set before the file goes: after a failed deletion the file is made anew, or found at the next
  // opening.
  held_.store(false, std::memory_order_relaxed);
  const IOStatus s = context_.fs()->DeleteFile(Path(), IOOptions(), nullptr);
  LogWarn(context_.info_log(), "the disk is full: %llu bytes of its reserve were released: %s",
          static_cast<unsigned long long>(context_.options().reserve_bytes), s.ToString().c_str());
}

// A failure is only logged, and what was written of the file is deleted again.
void SpaceReserve::TakeIfThereIsRoom() {
  MutexLock lock(&mu_);
  if (!Lacks()) return;
  const uint64_t bytes = context_.options().reserve_bytes;
  uint64_t free_bytes = 0;
  IOStatus s = context_.fs()->GetFreeSpace(context_.name(), IOOptions(), &free_bytes, nullptr);
  // A file system without this call will report the lack of space when the file is written.
  if (s.ok() && free_bytes / 2 < bytes) return;
  s = MakeFile();
  if (s.ok()) {
    held_.store(true, std::memory_order_relaxed);
    return;
  }
  LogWarn(context_.info_log(), "%s could not be made: %s", Path().c_str(), s.ToString().c_str());
  context_.fs()->DeleteFile(Path(), IOOptions(), nullptr).PermitUncheckedError();
}

// Writes the file instead of only extending it: a sparse file reserves nothing, and not every file
// system can allocate.
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
