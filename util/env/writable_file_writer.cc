// SPDX-License-Identifier: Apache-2.0

// Bytes go through one buffer, whose size doubles from 64 KiB up to the limit. Large pieces go past
// it. With direct I/O the file is written in whole pages: the last, unfinished page stays in the
// buffer and is written again when it has grown.
//
// The rate limiter is asked before each write. Write-back is requested (RangeSync) while the file
// grows, so that the sync at its end has little to do.

#include "util/env/writable_file_writer.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "varve/file_checksum.h"
#include "varve/rate_limiter.h"
#include "varve/statistics.h"
#include "varve/system_clock.h"

#include "util/metrics/iostats.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

constexpr size_t kFirstBuffer = 64 * 1024;
// Pieces of at least this size go to the file from where they are, unless I/O is direct: a copy
// would take longer than another call.
constexpr size_t kPastTheBuffer = 64 * 1024;
// Number of bytes by which write-back stays behind the end of the file, so that pages still being
// filled are not written twice.
constexpr uint64_t kRangeSyncDistance = 1024 * 1024;
constexpr uint64_t kRangeSyncUnit = 4096;

// Adds the time of its scope to one of the times, and to the thread's, if they are wanted.
template <uint64_t FileWriteTimes::*kWhich, uint64_t IOStatsContext::*kOfThread,
          uint64_t IOStatsContext::*kCpuOfThread = nullptr>
class Timed {
 public:
  explicit Timed(const WritableFileWriter::Options& options)
      : clock_(options.times == nullptr ? nullptr : options.clock),
        total_(clock_ == nullptr ? nullptr : &(options.times->*kWhich)),
        start_(clock_ == nullptr ? 0 : clock_->NowNanos()) {}
  ~Timed() {
    if (clock_ != nullptr) [[unlikely]]
      *total_ += clock_->NowNanos() - start_;
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  SystemClock* const clock_;
  uint64_t* const total_;
  const uint64_t start_;
  const IOTimer<kOfThread, kCpuOfThread> of_thread_;
};

// Records the microseconds of its scope in histograms of the database's statistics.
class Recorded {
 public:
  Recorded(const WritableFileWriter::Options& options, uint32_t histogram,
           uint32_t more = WritableFileWriter::kNoHistogram)
      : stats_(options.clock == nullptr || histogram == WritableFileWriter::kNoHistogram
                   ? nullptr
                   : options.stats),
        histogram_(histogram),
        more_(more),
        time_(stats_, histogram, options.clock) {}
  ~Recorded() {
    if (!time_.wanted()) return;
    const uint64_t micros = time_.Micros();
    RecordTimeToHistogram(stats_, histogram_, micros);
    if (more_ != WritableFileWriter::kNoHistogram) RecordTimeToHistogram(stats_, more_, micros);
  }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

 private:
  Statistics* const stats_;  // Null if there is nothing to record.
  const uint32_t histogram_;
  const uint32_t more_;
  const TimeIfWanted time_;
};

using TimedWrite =
    Timed<&FileWriteTimes::write, &IOStatsContext::write_nanos, &IOStatsContext::cpu_write_nanos>;

}  // namespace

WritableFileWriter::Options WritableFileWriter::OptionsFrom(const FileOptions& options) {
  Options out;
  out.max_buffer_size = options.writable_file_max_buffer_size;
  out.bytes_per_sync = options.bytes_per_sync;
  out.io_options = options.io_options;
  out.rate_limiter = options.rate_limiter;
  return out;
}

WritableFileWriter::WritableFileWriter(std::unique_ptr<FSWritableFile> file, std::string file_name,
                                       const Options& options, uint64_t initial_size)
    : file_name_(std::move(file_name)),
      options_(options),
      file_(std::move(file)),
      direct_(file_->use_direct_io()),
      alignment_(direct_ ? file_->GetRequiredBufferAlignment() : kDefaultPageSize),
      range_synced_(initial_size),
      file_size_(initial_size),
      flushed_size_(initial_size) {}

IOStatus WritableFileWriter::Create(FileSystem* fs, const std::string& fname,
                                    const FileOptions& file_options, const Options& options,
                                    std::unique_ptr<WritableFileWriter>* writer) {
  writer->reset();
  const IOTimer<&IOStatsContext::open_nanos> timer;
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = fs->NewWritableFile(fname, file_options, &file, nullptr);
  if (s.ok()) *writer = std::make_unique<WritableFileWriter>(std::move(file), fname, options);
  return s;
}

WritableFileWriter::~WritableFileWriter() {
  // A failure cannot be handled any more.
  if (!closed_) (void)file_->Close(options_.io_options, nullptr).ok();
}

IOStatus WritableFileWriter::Failed() const {
  return error_;
}

IOStatus WritableFileWriter::status() const {
  return has_failed() ? error_ : IOStatus::OK();
}

// After a failed fsync Linux marks the lost pages as clean, and the next fsync succeeds. So the
// first error must stay, however harmless the calls after it look.
IOStatus WritableFileWriter::Latch(IOStatus s) {
  if (s.ok()) return s;
  // Appending and syncing threads may fail concurrently: one of them stores its error.
  if (!failing_.exchange(true, std::memory_order_acq_rel)) {
    error_ = s;
    failed_.store(true, std::memory_order_release);
  }
  return s;
}

// Without memory a smaller buffer does as well: false only if there is none at all. The capacity is
// a multiple of the alignment, which WriteDirect needs for its padding.
bool WritableFileWriter::GrowBuffer(size_t wanted) {
  const size_t limit = std::max(options_.max_buffer_size, alignment_);
  if (buffer_.capacity() >= limit) return true;
  size_t size = std::max(buffer_.capacity() * 2, std::min(kFirstBuffer, limit));
  while (size < used_ + wanted && size < limit) size *= 2;
  AlignedBuffer grown;
  if (!grown.Allocate(std::min(size, limit), alignment_)) return buffer_.capacity() > 0;
  if (used_ > 0) std::memcpy(grown.data(), buffer_.data(), used_);
  buffer_ = std::move(grown);
  return true;
}

IOStatus WritableFileWriter::Append(const Slice& data) {
  return Append(&data, 1);
}

// file_size_ moves once, after the last part, so that a concurrent reader of it never sees a half
// of a record. After an error it stays behind what was written, which does not matter, as the
// writer has failed.
IOStatus WritableFileWriter::Append(const Slice* parts, size_t count) {
  if (has_failed()) return Failed();
  if (closed_) return IOStatus::InvalidArgument(file_name_, "append after Close");
  size_t total = 0;
  for (size_t i = 0; i < count; ++i) total += parts[i].size();
  const uint64_t size = file_size_.load(std::memory_order_relaxed);
  {
    const Timed<&FileWriteTimes::prepare, &IOStatsContext::prepare_write_nanos> timed(options_);
    file_->PrepareWrite(static_cast<size_t>(size), total, options_.io_options, nullptr);
  }
  for (size_t i = 0; i < count; ++i) {
    IOStatus s = AppendBytes(parts[i].data(), parts[i].size());
    if (!s.ok()) return s;
    if (options_.checksum != nullptr) [[unlikely]] {
      options_.checksum->Update(parts[i].data(), parts[i].size());
    }
  }
  file_size_.store(size + total, std::memory_order_release);
  return IOStatus::OK();
}

// Chooses the way of the bytes. Order is kept because whatever goes past the buffer first empties
// it:
//
//   large, buffered I/O            buffer out, then written from where they lie
//   fit, perhaps after growing     copied
//   do not fit, buffered I/O       buffer out, then copied, or written if still too large
//   do not fit, direct I/O         copied page by page: fill, write, fill
IOStatus WritableFileWriter::AppendBytes(const char* data, size_t n) {
  if (!direct_ && n >= kPastTheBuffer) {
    IOStatus s = WriteBuffered();
    return s.ok() ? WriteThrough(Slice(data, n)) : s;
  }
  if (buffer_.capacity() - used_ < n && !GrowBuffer(n)) {
    return Latch(IOStatus::Aborted(file_name_, "no memory for a write buffer"));
  }
  if (!direct_ && buffer_.capacity() - used_ < n) {
    IOStatus s = WriteBuffered();
    if (!s.ok()) return s;
    if (n >= buffer_.capacity()) return WriteThrough(Slice(data, n));
  }
  while (n > 0) {
    if (used_ == buffer_.capacity()) {
      IOStatus s = direct_ ? WriteDirect() : WriteBuffered();
      if (!s.ok()) return s;
    }
    const size_t piece = std::min(n, buffer_.capacity() - used_);
    std::memcpy(buffer_.data() + used_, data, piece);
    used_ += piece;
    data += piece;
    n -= piece;
  }
  return IOStatus::OK();
}

IOStatus WritableFileWriter::Pad(size_t count) {
  static constexpr char kZeros[4096] = {};
  while (count > 0) {
    const size_t piece = std::min(count, sizeof(kZeros));
    IOStatus s = Append(Slice(kZeros, piece));
    if (!s.ok()) return s;
    count -= piece;
  }
  return IOStatus::OK();
}

size_t WritableFileWriter::Grant(size_t bytes, size_t alignment) {
  RateLimiter* const limiter = options_.rate_limiter;
  const Env::IOPriority priority = options_.io_options.rate_limiter_priority;
  if (limiter == nullptr || priority == Env::IO_TOTAL) return bytes;
  const std::atomic<bool>* const lifted = options_.limit_lifted;
  if (lifted != nullptr && lifted->load(std::memory_order_relaxed)) return bytes;
  const size_t granted = limiter->RequestToken(bytes, alignment, priority, options_.stats,
                                               RateLimiter::OpType::kWrite);
  // A user's limiter that grants nothing, or too much, must not stop or overrun the writer.
  return granted == 0 || granted > bytes ? bytes : granted;
}

IOStatus WritableFileWriter::WriteThrough(Slice data) {
  while (!data.empty()) {
    const size_t n = Grant(data.size(), 0);
    const TimedWrite timed(options_);
    const Recorded recorded(options_, options_.write_histogram,
                            options_.write_histogram_of_purpose);
    IOStatus s = file_->Append(Slice(data.data(), n), options_.io_options, nullptr);
    if (!s.ok()) return Latch(std::move(s));
    AddIOCount<&IOStatsContext::bytes_written>(n);
    data.remove_prefix(n);
    // Published after each piece: a tailing reader may use every byte that the operating system
    // has.
    flushed_size_.fetch_add(n, std::memory_order_release);
  }
  return RangeSyncIfDue();
}

IOStatus WritableFileWriter::WriteBuffered() {
  IOStatus s = WriteThrough(Slice(buffer_.data(), used_));
  if (s.ok()) used_ = 0;
  return s;
}

// Writes whole pages of the buffer, and the incomplete last one padded with zeros; the bytes of
// that page stay in the buffer, because the page is written again once more of it is known.
IOStatus WritableFileWriter::WriteDirect() {
  // The bytes in the buffer may all be written: a last, unfinished page stays there.
  if (buffer_offset_ + used_ == flushed_size_.load(std::memory_order_relaxed)) {
    return IOStatus::OK();
  }
  const size_t padded = static_cast<size_t>(RoundUp(used_, alignment_));
  std::memset(buffer_.data() + used_, 0, padded - used_);
  // The limiter grants whole pages, at least one; the padding is charged, too, because it is
  // written.
  size_t done = 0;
  while (done < padded) {
    size_t n = Grant(padded - done, alignment_);
    n = std::max<size_t>(RoundDown(n, alignment_), alignment_);
    const TimedWrite timed(options_);
    const Recorded recorded(options_, options_.write_histogram,
                            options_.write_histogram_of_purpose);
    IOStatus s = file_->PositionedAppend(Slice(buffer_.data() + done, n), buffer_offset_ + done,
                                         options_.io_options, nullptr);
    if (!s.ok()) return Latch(std::move(s));
    AddIOCount<&IOStatsContext::bytes_written>(n);
    done += n;
  }
  flushed_size_.store(buffer_offset_ + used_, std::memory_order_release);
  const size_t whole = static_cast<size_t>(RoundDown(used_, alignment_));
  const size_t tail = used_ - whole;
  if (whole > 0 && tail > 0) std::memmove(buffer_.data(), buffer_.data() + whole, tail);
  buffer_offset_ += whole;
  used_ = tail;
  return IOStatus::OK();
}

// Only starts write-back, of a range that ends kRangeSyncDistance before the end of the file. It
// makes nothing durable: Sync still has to, and then finds few dirty pages.
IOStatus WritableFileWriter::RangeSyncIfDue() {
  if (options_.bytes_per_sync == 0 || direct_) return IOStatus::OK();
  const uint64_t flushed = flushed_size_.load(std::memory_order_relaxed);
  if (flushed <= kRangeSyncDistance) return IOStatus::OK();
  const uint64_t end = RoundDown(flushed - kRangeSyncDistance, kRangeSyncUnit);
  if (end < range_synced_ || end - range_synced_ < options_.bytes_per_sync) return IOStatus::OK();
  const Timed<&FileWriteTimes::range_sync, &IOStatsContext::range_sync_nanos> timed(options_);
  IOStatus s = file_->RangeSync(range_synced_, end - range_synced_, options_.io_options, nullptr);
  if (!s.ok()) return Latch(std::move(s));
  range_synced_ = end;
  return s;
}

IOStatus WritableFileWriter::Flush() {
  if (has_failed()) return Failed();
  if (closed_) return IOStatus::InvalidArgument(file_name_, "flush after Close");
  if (used_ > 0) {
    IOStatus s = direct_ ? WriteDirect() : WriteBuffered();
    if (!s.ok()) return s;
  }
  IOStatus s = file_->Flush(options_.io_options, nullptr);
  if (!s.ok()) return Latch(std::move(s));
  return RangeSyncIfDue();
}

IOStatus WritableFileWriter::SyncFile(bool use_fsync) {
  const Timed<&FileWriteTimes::sync, &IOStatsContext::fsync_nanos> timed(options_);
  const Recorded recorded(options_, options_.sync_histogram);
  return Latch(use_fsync ? file_->Fsync(options_.io_options, nullptr)
                         : file_->Sync(options_.io_options, nullptr));
}

IOStatus WritableFileWriter::Sync(bool use_fsync) {
  IOStatus s = Flush();
  return s.ok() ? SyncFile(use_fsync) : s;
}

// May run beside an appending thread. It covers what flushed_size() was before the call; what is
// appended meanwhile may or may not be durable.
IOStatus WritableFileWriter::SyncWithoutFlush(bool use_fsync) {
  if (has_failed()) return Failed();
  if (!file_->IsSyncThreadSafe()) {
    return IOStatus::NotSupported(file_name_, "this file cannot be synced while it is written");
  }
  return SyncFile(use_fsync);
}

IOStatus WritableFileWriter::CutToSize() {
  IOStatus s = Flush();
  return s.ok() ? Latch(file_->Truncate(file_size(), options_.io_options, nullptr)) : s;
}

IOStatus WritableFileWriter::Close() {
  if (closed_) return has_failed() ? Failed() : IOStatus::OK();
  IOStatus s = Flush();
  if (s.ok() && direct_) {
    // Removes the padding of the last page.
    s = Latch(
        file_->Truncate(file_size_.load(std::memory_order_relaxed), options_.io_options, nullptr));
    // The new size is metadata that an earlier sync has not covered.
    if (s.ok()) s = Latch(file_->Fsync(options_.io_options, nullptr));
  }
  // Set before the file is closed: a file whose close has failed is gone, too, and must not be
  // closed again.
  closed_ = true;
  IOStatus closed = Latch(file_->Close(options_.io_options, nullptr));
  return s.ok() ? closed : s;
}

}  // namespace varve
