// SPDX-License-Identifier: Apache-2.0
#include "util/env/file_prefetcher.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Bytes from which the copy out of the buffer takes about as long as the system call that it saves.
constexpr size_t kLargeRead = 64 * 1024;

}  // namespace

FilePrefetcher FilePrefetcher::Adaptive(size_t first, size_t largest, uint64_t reads) {
  return FilePrefetcher(std::min(first, largest), largest, reads);
}

FilePrefetcher FilePrefetcher::Fixed(size_t size) {
  return FilePrefetcher(size, size, /*reads=*/0);
}

bool FilePrefetcher::Continues(uint64_t offset) const {
  return has_read_ && offset >= expected_ && offset - expected_ <= largest_;
}

// Through the buffer each byte is copied twice. That does not pay for a large read, where reading
// ahead would save one call in two at most, nor for a small one that needs no call, as the file's
// pages are mapped and in memory. Never true for a prefetcher of fixed size (reads_ is 0), nor for
// one that asks ahead, so that I/O overlaps with work, nor for direct I/O, which the system does
// not read ahead.
bool FilePrefetcher::IsBetterAlone(const RandomAccessFileReader& file, size_t n) const {
  if (reads_ == 0 || asks_ahead_ || file.use_direct_io()) return false;
  return (n >= kLargeRead && n >= largest_ / 2) || file.copies_from_mapping(n);
}

// Each read first updates the run of consecutive reads, whether or not the buffer serves it;
// otherwise hits would look like a pause, and the read behind the buffer like a jump. Then one of
// three things happens:
//
//   in the buffer                          -> served from it, no call
//   run too short, distance 0, or better   -> read alone, buffer kept
//   else                                   -> refill: n bytes and next_ more in one call
IOStatus FilePrefetcher::Read(const RandomAccessFileReader& file, uint64_t offset, size_t n,
                              uint64_t limit, Slice* result, char* scratch,
                              const IOOptions& io_options) {
  const bool goes_on = std::exchange(goes_on_, false);
  const bool continues = goes_on || Continues(offset);
  in_a_row_ = continues ? in_a_row_ + 1 : 1;
  // A scan that comes from the file before needs no new proof that it is one.
  if (goes_on) in_a_row_ = std::max(in_a_row_, reads_ + 1);
  has_read_ = true;
  expected_ = offset + n;
  if (Holds(offset, n)) {
    RecordTick(file.statistics(), PREFETCH_HITS);
    RecordTick(file.statistics(), PREFETCH_BYTES_USEFUL, n);
    used_end_ = offset + n;
    *result = Slice(buffer_.data() + (offset - start_), n);
    return IOStatus::OK();
  }
  if (!continues) next_ = first_;
  if (next_ == 0 || in_a_row_ <= reads_ || IsBetterAlone(file, n)) {
    return file.Read(offset, n, result, scratch, io_options);
  }
  IOStatus s = Refill(file, offset, n, limit, io_options);
  if (!s.ok()) return s;
  if (!Holds(offset, n)) {
    return IOStatus::Corruption(file.file_name(),
                                "ends before offset " + std::to_string(offset + n));
  }
  used_end_ = offset + n;
  if (asks_ahead_) AskForMore(file, limit, io_options);
  *result = Slice(buffer_.data() + (offset - start_), n);
  return s;
}

void FilePrefetcher::AskForMore(const RandomAccessFileReader& file, uint64_t limit,
                                const IOOptions& io_options) {
  const uint64_t end = start_ + size_;
  if (end >= limit) return;
  const auto n = static_cast<size_t>(std::min<uint64_t>(next_, limit - end));
  // If the system does not support this request, the refill waits as before.
  asks_ahead_ = file.Prefetch(end, n, io_options).ok();
}

void FilePrefetcher::CountDiscarded(Statistics* statistics) const {
  const uint64_t end = start_ + size_;
  if (size_ == 0 || used_end_ >= end) return;
  RecordInHistogram(statistics, PREFETCHED_BYTES_DISCARDED, end - std::max(used_end_, start_));
}

IOStatus FilePrefetcher::Refill(const RandomAccessFileReader& file, uint64_t offset, size_t n,
                                uint64_t limit, const IOOptions& io_options) {
  uint64_t end = offset + n;
  if (end < limit) {
    if (limit - end < next_) RecordTick(file.statistics(), READAHEAD_TRIMMED);
    end += std::min<uint64_t>(next_, limit - end);
  }
  const auto wanted = static_cast<size_t>(end - offset);
  // Bytes of the range that the buffer already holds move to its front.
  size_t kept = 0;
  if (offset >= start_ && offset - start_ < size_) {
    kept = size_ - static_cast<size_t>(offset - start_);
  }
  // A jump leaves the rest of the buffer unread. A refill that continues discards nothing, as its
  // unread bytes move to the front.
  if (kept == 0) CountDiscarded(file.statistics());
  const char* const kept_bytes = kept == 0 ? nullptr : buffer_.data() + (size_ - kept);
  if (buffer_.capacity() < wanted) {
    AlignedBuffer larger;
    if (!larger.Allocate(wanted, kDefaultPageSize)) {
      return IOStatus::Aborted(file.file_name(), "no memory to read ahead");
    }
    if (kept > 0) std::memcpy(larger.data(), kept_bytes, kept);
    buffer_ = std::move(larger);
  } else if (kept > 0) {
    std::memmove(buffer_.data(), kept_bytes, kept);
  }
  // From here the buffer is consistent, so an error of the read below leaves it usable: it then
  // holds only what was kept.
  start_ = offset;
  size_ = kept;
  char* const target = buffer_.data() + kept;
  Slice read;
  IOStatus s = file.ReadUpTo(offset + kept, wanted - kept, &read, target, io_options);
  if (!s.ok()) return s;
  // A mapped file returns its own memory.
  if (!read.empty() && read.data() != target) std::memcpy(target, read.data(), read.size());
  size_ = kept + read.size();
  if (size_ > n) {
    RecordTick(file.statistics(), PREFETCH_BYTES, size_ - n);
    if (io_options.io_activity == Env::IOActivity::kCompaction) {
      RecordInHistogram(file.statistics(), COMPACTION_PREFETCH_BYTES, size_ - n);
    }
  }
  next_ = std::min(next_ * 2, largest_);
  return s;
}

}  // namespace varve
