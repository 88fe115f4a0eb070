// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides the segments of one log: determines the size of the next one, and maps it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "varve/io_status.h"

#include "db/lock_ranks.h"
#include "util/env/mapped_file.h"
#include "util/sync/mutex.h"

namespace varve::wal {

// A part of the file that begins and ends at block boundaries: mapped, and ready for stores, or
// without a base, for records that are written by system calls.
struct LogSegment {
  uint64_t begin = 0;
  size_t bytes = 0;
  char* base = nullptr;
  LogSegment* next = nullptr;  // Set before any record that continues there gets its place.
  uint64_t last_ticket = 0;    // Last record in this segment, once later ones begin after it.

  uint64_t end() const { return begin + bytes; }
};

// Thread safety: Take, Return and Stop must not overlap. Segments are prepared by a separate
// thread.
class LogSegments {
 public:
  // Size of the first segment; the file doubles with each, up to the largest size, so that a small
  // database occupies little.
  static constexpr size_t kFirstBytes = MappedFile::kUnit;
  static constexpr size_t kLargestBytes = size_t{4} << 20;
  // From this size on, the segment after the one just taken is prepared in the background.
  static constexpr size_t kAheadBytes = size_t{1} << 20;

  // The file is not owned and must outlive this object.
  explicit LogSegments(MappedFile* file) : file_(file) {}
  ~LogSegments() { Stop(); }

  // Sets *segment to the next one of the file. If `unmapped` is not 0, it has at least so many
  // bytes and is not mapped, unless one was prepared before.
  IOStatus Take(uint64_t unmapped, std::unique_ptr<LogSegment>* segment);
  // Unmaps the segment, or leaves that to the background thread, because it takes as long as other
  // threads hold the system's lock on the address space.
  void Return(std::unique_ptr<LogSegment> segment);
  // Unmaps everything except segments that were taken and not returned. Nothing is mapped
  // afterwards.
  void Stop();

 private:
  // Returns the size of the segment at this offset of the file.
  static size_t BytesAt(uint64_t offset);
  // Makes the segment at this offset: maps it, which reserves its space in the file, or with
  // `unmapped` above 0 only determines its size.
  IOStatus Make(uint64_t offset, uint64_t unmapped, std::unique_ptr<LogSegment>* segment);
  // Asks the background thread to prepare the next segment; starts the thread if there is none.
  void AskAhead() VARVE_REQUIRES(mu_);
  // The background thread: prepares and unmaps until Stop.
  void WorkAhead();
  void Unmap(const LogSegment& segment) {
    if (segment.base != nullptr) file_->Unmap(segment.base, segment.bytes);
  }

  MappedFile* const file_;
  Mutex mu_{lock_ranks::kLogSegments};
  CondVar changed_{&mu_};
  std::thread thread_;                              // Used by the caller's thread only.
  uint64_t next_offset_ VARVE_GUARDED_BY(mu_) = 0;  // Offset of the next segment.
  // The segment that was prepared ahead, at next_offset_; null if there is none.
  std::unique_ptr<LogSegment> ready_ VARVE_GUARDED_BY(mu_);
  // Returned segments, unmapped by the background thread's next run, or by Stop.
  std::vector<std::unique_ptr<LogSegment>> left_ VARVE_GUARDED_BY(mu_);
  bool asked_ VARVE_GUARDED_BY(mu_) = false;  // The thread has work or is working.
  bool stop_ VARVE_GUARDED_BY(mu_) = false;
};

}  // namespace varve::wal
