// SPDX-License-Identifier: Apache-2.0
// Implements MultiRead and MultiReadFiles of random_access_file_reader.h.

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "util/env/posix_files.h"
#include "util/env/random_access_file_reader.h"
#include "util/metrics/iostats.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

using ReadTimer = IOTimer<&IOStatsContext::read_nanos, &IOStatsContext::cpu_read_nanos>;

// The requests of one file in the form that direct I/O wants, and their memory.
class AlignedRequests {
 public:
  // Widens each request to whole units of `alignment` bytes, with memory of its own. Returns
  // Aborted if there is no memory.
  IOStatus Make(const FileReads& reads, size_t alignment);
  // Copies what was read to where it was wanted.
  void Deliver(std::span<FSReadRequest> requests);

  [[nodiscard]] std::span<FSReadRequest> requests() { return requests_; }

 private:
  std::vector<FSReadRequest> requests_;
  AlignedBuffer buffer_;  // of all
};

IOStatus AlignedRequests::Make(const FileReads& reads, size_t alignment) {
  requests_.resize(reads.requests.size());
  size_t bytes = 0;
  for (size_t i = 0; i < requests_.size(); i++) {
    const FSReadRequest& wanted = reads.requests[i];
    requests_[i].offset = RoundDown(wanted.offset, alignment);
    const uint64_t end = RoundUp(wanted.offset + wanted.len, alignment);
    requests_[i].len = static_cast<size_t>(end - requests_[i].offset);
    bytes += requests_[i].len;
  }
  if (!buffer_.Allocate(bytes, alignment)) {
    return IOStatus::Aborted(reads.file->file_name(), "no memory for an aligned read");
  }
  char* next = buffer_.data();
  for (FSReadRequest& request : requests_) {
    request.scratch = next;
    next += request.len;
  }
  return IOStatus::OK();
}

void AlignedRequests::Deliver(std::span<FSReadRequest> requests) {
  for (size_t i = 0; i < requests.size(); i++) {
    FSReadRequest& wanted = requests[i];
    const auto skipped = static_cast<size_t>(wanted.offset - requests_[i].offset);
    const Slice& read = requests_[i].result;
    const size_t got = read.size() <= skipped ? 0 : std::min(wanted.len, read.size() - skipped);
    if (got > 0) std::memcpy(wanted.scratch, read.data() + skipped, got);
    wanted.result = Slice(wanted.scratch, got);
    wanted.status = std::move(requests_[i].status);
  }
}

// Reads of a program's file system that are under way. Every one is over before this is destroyed.
class AsyncReads {
 public:
  AsyncReads() = default;
  AsyncReads(const AsyncReads&) = delete;
  AsyncReads& operator=(const AsyncReads&) = delete;
  ~AsyncReads() { Wait(); }

  // Starts the reads of one more file. Returns false if it is of another file system.
  bool Start(FileSystem* fs, FSRandomAccessFile* file, std::span<FSReadRequest> requests,
             const IOOptions& io_options);
  // Returns when all are over. A request without an answer gets an error.
  void Wait();

 private:
  struct Read {
    FSReadRequest* request = nullptr;
    std::atomic<bool> done{false};  // publishes the request's results
    void* handle = nullptr;         // the file system's
    IOHandleDeleter delete_handle;
  };
  // Called by the file system when a read is over: stores its result, and marks it as done. `arg`
  // is the Read.
  static void Take(FSReadRequest& answered, void* arg);

  FileSystem* fs_ = nullptr;
  std::deque<Read> reads_;  // Their addresses stay.
};

void AsyncReads::Take(FSReadRequest& answered, void* arg) {
  auto* const read = static_cast<Read*>(arg);
  FSReadRequest& request = *read->request;
  if (&answered != &request) {
    request.result = answered.result;
    request.status = answered.status;
  }
  read->done.store(true, std::memory_order_release);
}

// A file system may call back within ReadAsync, later in Poll, or from a thread of its own. An
// error of ReadAsync itself means that it will not call back for this request.
bool AsyncReads::Start(FileSystem* fs, FSRandomAccessFile* file, std::span<FSReadRequest> requests,
                       const IOOptions& io_options) {
  if (fs_ != nullptr && fs_ != fs) return false;
  fs_ = fs;
  for (FSReadRequest& request : requests) {
    Read& read = reads_.emplace_back();
    read.request = &request;
    IOStatus s = file->ReadAsync(request, io_options, &Take, &read, &read.handle,
                                 &read.delete_handle, nullptr);
    if (s.ok()) continue;
    request.status = std::move(s);
    read.done.store(true, std::memory_order_relaxed);
  }
  return true;
}

void AsyncReads::Wait() {
  std::vector<void*> handles;
  for (const Read& read : reads_) {
    if (read.handle != nullptr) handles.push_back(read.handle);
  }
  const auto done = [](const Read& read) { return read.done.load(std::memory_order_acquire); };
  IOStatus s;
  if (!handles.empty()) s = fs_->Poll(handles, handles.size());
  if (!std::ranges::all_of(reads_, done)) {
    // After AbortIO no read is under way, even if it returns an error, so no callback comes later
    // that would touch reads_.
    fs_->AbortIO(handles).PermitUncheckedError();
    if (s.ok()) s = IOStatus::IOError("ReadAsync: a read has no answer");
  }
  for (Read& read : reads_) {
    if (!done(read)) read.request->status = s;
    if (read.handle != nullptr && read.delete_handle) read.delete_handle(read.handle);
  }
  reads_.clear();
}

}  // namespace

bool RandomAccessFileReader::overlaps(bool async_io) const {
  return posix_ != nullptr ? posix_->MayWait() : async_io && async_fs_ != nullptr;
}

IOStatus RandomAccessFileReader::MultiRead(FSReadRequest* requests, size_t count,
                                           const IOOptions& io_options) const {
  FileReads reads{this, {requests, count}, &io_options, {}};
  MultiReadFiles({&reads, 1});
  return reads.status;
}

// Starts what can wait together before it waits for anything:
//
//   files of the operating system      gathered, read at the end in one batch
//   files that read asynchronously     started here, awaited when `async` is destroyed
//   any other                          read here, one file after the other
//
// The inner scope ends when every read is over; only then may aligned buffers be copied from.
void RandomAccessFileReader::MultiReadFiles(std::span<FileReads> files, bool async_io) {
  if (files.empty()) return;
  if (files.size() == 1 && files[0].requests.size() == 1) {
    FSReadRequest& r = files[0].requests[0];
    r.status = files[0].file->Read(r.offset, r.len, &r.result, r.scratch, *files[0].io_options);
    return;
  }
  // All waiting for the rate limiter is done before the clock starts, as it is no time of the
  // device.
  for (const FileReads& reads : files) {
    for (const FSReadRequest& r : reads.requests) {
      reads.file->AskRateLimiter(r.len, *reads.io_options);
    }
  }
  const RandomAccessFileReader& first = *files.front().file;
  const TimeIfWanted time(first.timed_statistics(), first.options_.read_histogram,
                          first.options_.clock);
  std::vector<AlignedRequests> aligned(files.size());
  std::vector<PosixRandomAccessFile::Reads> together;
  {
    const ReadTimer timer;
    AsyncReads async;
    for (size_t i = 0; i < files.size(); i++) {
      FileReads& reads = files[i];
      const RandomAccessFileReader& file = *reads.file;
      std::span<FSReadRequest> requests = reads.requests;
      if (file.direct_) {
        reads.status = aligned[i].Make(reads, file.alignment_);
        if (!reads.status.ok()) continue;
        requests = aligned[i].requests();
      }
      if (file.posix_ != nullptr) {
        together.push_back({file.posix_, requests.data(), requests.size()});
      } else if (!async_io || file.async_fs_ == nullptr ||
                 !async.Start(file.async_fs_, file.file_.get(), requests, *reads.io_options)) {
        reads.status =
            file.file_->MultiRead(requests.data(), requests.size(), *reads.io_options, nullptr);
      }
    }
    if (!together.empty()) PosixRandomAccessFile::MultiReadFiles(together);
  }
  // Reads that were in flight together cannot be told apart, so each file is charged the whole
  // time.
  const uint64_t micros = time.wanted() ? time.Micros() : 0;
  for (size_t i = 0; i < files.size(); i++) {
    const RandomAccessFileReader& file = *files[i].file;
    if (time.wanted() && file.timed_statistics() != nullptr) {
      file.RecordTime(micros, *files[i].io_options);
    }
    if (!files[i].status.ok()) continue;
    if (file.direct_) aligned[i].Deliver(files[i].requests);
    file.FinishReads(files[i]);
  }
}

void RandomAccessFileReader::FinishReads(const FileReads& reads) const {
  for (FSReadRequest& r : reads.requests) {
    Count(r.result.size());
    if (!r.status.ok() || r.result.size() == r.len) continue;
    // Reads the request again alone: the file system may have been interrupted.
    r.status = Read(r.offset, r.len, &r.result, r.scratch, *reads.io_options);
  }
}

}  // namespace varve
