// SPDX-License-Identifier: Apache-2.0
#pragma once

// The mapped pieces of one log: how large the next one is, and who gets it ready.

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

// A piece of the file, ready to be stored into. It begins and ends at a block's border.
struct LogSegment {
  uint64_t begin = 0;
  size_t bytes = 0;
  char* base = nullptr;
  LogSegment* next = nullptr;  // set before any record that goes on there is given its place
  uint64_t last_ticket = 0;    // of the records that reach into it, once later ones do not

  uint64_t end() const { return begin + bytes; }
};

// Thread safety: Take, Return and Stop one at a time. Work ahead runs in a thread of its own.
class LogSegments {
 public:
  // The first piece; a file doubles with each, up to the largest. A small database occupies little.
  static constexpr size_t kFirstBytes = MappedFile::kUnit;
  static constexpr size_t kLargestBytes = size_t{4} << 20;
  // From this size on the piece after the one just taken is made ready in the background.
  static constexpr size_t kAheadBytes = size_t{1} << 20;

  // Not owned; lives longer.
  explicit LogSegments(MappedFile* file) : file_(file) {}
  ~LogSegments() { Stop(); }

  // The next piece of the file.
  IOStatus Take(std::unique_ptr<LogSegment>* segment);
  // Unmaps it, or leaves that to the thread that works ahead: it takes as long as the system's lock
  // on the address space is held by others.
  void Return(std::unique_ptr<LogSegment> segment);
  // Nothing is mapped any more but what was taken and not given back, and nothing will be.
  void Stop();

 private:
  static size_t BytesAt(uint64_t offset);
  IOStatus Map(uint64_t offset, std::unique_ptr<LogSegment>* segment);
  void AskAhead() VARVE_REQUIRES(mu_);
  void WorkAhead();
  void Unmap(const LogSegment& segment) { file_->Unmap(segment.base, segment.bytes); }

  MappedFile* const file_;
  Mutex mu_{lock_ranks::kLogSegments};
  CondVar changed_{&mu_};
  std::thread thread_;                              // touched by the caller's thread alone
  uint64_t next_offset_ VARVE_GUARDED_BY(mu_) = 0;  // of the piece that Take gives next
  std::unique_ptr<LogSegment> ready_ VARVE_GUARDED_BY(mu_);
  // Given back; unmapped with the next work ahead, or by Stop.
  std::vector<std::unique_ptr<LogSegment>> left_ VARVE_GUARDED_BY(mu_);
  bool asked_ VARVE_GUARDED_BY(mu_) = false;  // the thread has work, or is at it
  bool stop_ VARVE_GUARDED_BY(mu_) = false;
};

}  // namespace varve::wal
