// SPDX-License-Identifier: Apache-2.0
#include "util/env/random_access_file_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "varve/rate_limiter.h"
#include "varve/statistics.h"
#include "varve/system_clock.h"

#include "util/env/posix_files.h"
#include "util/metrics/iostats.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

using ReadTimer = IOTimer<&IOStatsContext::read_nanos, &IOStatsContext::cpu_read_nanos>;

struct TemperatureTickers {
  Tickers bytes;
  Tickers count;
};

// Sets *tickers for the temperature. Returns false if there are none.
bool FindTickers(Temperature temperature, TemperatureTickers* tickers) {
  switch (temperature) {
    case Temperature::kHot:
      *tickers = {HOT_FILE_READ_BYTES, HOT_FILE_READ_COUNT};
      return true;
    case Temperature::kWarm:
      *tickers = {WARM_FILE_READ_BYTES, WARM_FILE_READ_COUNT};
      return true;
    case Temperature::kCool:
      *tickers = {COOL_FILE_READ_BYTES, COOL_FILE_READ_COUNT};
      return true;
    case Temperature::kCold:
      *tickers = {COLD_FILE_READ_BYTES, COLD_FILE_READ_COUNT};
      return true;
    case Temperature::kIce:
      *tickers = {ICE_FILE_READ_BYTES, ICE_FILE_READ_COUNT};
      return true;
    case Temperature::kUnknown:
    case Temperature::kLastTemperature:
      break;
  }
  return false;
}

// Returns the histogram of read microseconds for the activity; kNoHistogram if there is none.
uint32_t HistogramOf(Env::IOActivity activity) {
  switch (activity) {
    case Env::IOActivity::kFlush:
      return FILE_READ_FLUSH_MICROS;
    case Env::IOActivity::kCompaction:
      return FILE_READ_COMPACTION_MICROS;
    case Env::IOActivity::kDBOpen:
      return FILE_READ_DB_OPEN_MICROS;
    case Env::IOActivity::kGet:
      return FILE_READ_GET_MICROS;
    case Env::IOActivity::kMultiGet:
      return FILE_READ_MULTIGET_MICROS;
    case Env::IOActivity::kDBIterator:
      return FILE_READ_DB_ITERATOR_MICROS;
    case Env::IOActivity::kVerifyDBChecksum:
      return FILE_READ_VERIFY_DB_CHECKSUM_MICROS;
    case Env::IOActivity::kVerifyFileChecksums:
      return FILE_READ_VERIFY_FILE_CHECKSUMS_MICROS;
    default:
      return RandomAccessFileReader::kNoHistogram;
  }
}

}  // namespace

RandomAccessFileReader::RandomAccessFileReader(std::unique_ptr<FSRandomAccessFile> file,
                                               std::string file_name, const Options& options)
    : file_name_(std::move(file_name)),
      options_(options),
      file_(std::move(file)),
      direct_(file_->use_direct_io()),
      alignment_(file_->GetRequiredBufferAlignment()) {}

IOStatus RandomAccessFileReader::Open(FileSystem* fs, const std::string& fname,
                                      const FileOptions& file_options, const Options& options,
                                      std::unique_ptr<RandomAccessFileReader>* reader) {
  reader->reset();
  const IOTimer<&IOStatsContext::open_nanos> timer;
  std::unique_ptr<FSRandomAccessFile> file;
  IOStatus s = fs->NewRandomAccessFile(fname, file_options, &file, nullptr);
  if (!s.ok()) return s;
  Options own = options;
  own.maps = file_options.use_mmap_reads;
  const FSRandomAccessFile& opened = *file;
  own.page_cached = typeid(opened) == typeid(PosixRandomAccessFile) && !opened.use_direct_io();
  *reader = std::make_unique<RandomAccessFileReader>(std::move(file), fname, own);
  return s;
}

IOStatus RandomAccessFileReader::EndsBefore(uint64_t offset, size_t n, size_t got) const {
  return IOStatus::Corruption(file_name_, "ends early: wanted " + std::to_string(n) +
                                              " bytes at offset " + std::to_string(offset) +
                                              ", got " + std::to_string(got));
}

void RandomAccessFileReader::Count(size_t bytes) const {
  CountFileRead(options_.temperature, bytes);
  Statistics* const stats = options_.stats;
  if (stats == nullptr) return;
  RecordTick(stats, options_.in_last_level ? LAST_LEVEL_READ_BYTES : NON_LAST_LEVEL_READ_BYTES,
             bytes);
  RecordTick(stats, options_.in_last_level ? LAST_LEVEL_READ_COUNT : NON_LAST_LEVEL_READ_COUNT);
  TemperatureTickers tickers;
  if (!FindTickers(options_.temperature, &tickers)) return;
  RecordTick(stats, tickers.bytes, bytes);
  RecordTick(stats, tickers.count);
}

void RandomAccessFileReader::AskRateLimiter(size_t n, const IOOptions& io_options) const {
  RateLimiter* const limiter = options_.rate_limiter;
  if (limiter == nullptr || io_options.rate_limiter_priority == Env::IO_TOTAL) return;
  while (n > 0) {
    const size_t granted = limiter->RequestToken(n, 0, io_options.rate_limiter_priority,
                                                 options_.stats, RateLimiter::OpType::kRead);
    if (granted == 0 || granted >= n) return;
    n -= granted;
  }
}

IOStatus RandomAccessFileReader::ReadLoop(uint64_t offset, size_t n, Slice* result, char* scratch,
                                          const IOOptions& io_options) const {
  IOStatus s = file_->Read(offset, n, io_options, result, scratch, nullptr);
  // The first result is nearly always complete, and may lie outside scratch.
  if (!s.ok() || result->size() == n || result->empty()) return s;
  if (result->size() > n) return IOStatus::Corruption(file_name_, "read returned too many bytes");
  size_t got = result->size();
  if (result->data() != scratch) std::memmove(scratch, result->data(), got);
  while (got < n) {
    Slice more;
    s = file_->Read(offset + got, n - got, io_options, &more, scratch + got, nullptr);
    if (!s.ok()) return s;
    if (more.empty()) break;
    if (more.size() > n - got) {
      return IOStatus::Corruption(file_name_, "read returned too many bytes");
    }
    if (more.data() != scratch + got) std::memmove(scratch + got, more.data(), more.size());
    got += more.size();
  }
  *result = Slice(scratch, got);
  return IOStatus::OK();
}

IOStatus RandomAccessFileReader::ReadAligned(uint64_t offset, size_t n, Slice* result,
                                             char* scratch, const IOOptions& io_options) const {
  const uint64_t first = RoundDown(offset, alignment_);
  const uint64_t end = RoundUp(offset + n, alignment_);
  const auto length = static_cast<size_t>(end - first);
  AlignedBuffer buffer;
  if (!buffer.Allocate(length, alignment_)) {
    return IOStatus::Aborted(file_name_, "no memory for an aligned read");
  }
  // A direct read that ends early has reached the end of the file: reading on from there would not
  // be aligned.
  Slice read;
  IOStatus s = file_->Read(first, length, io_options, &read, buffer.data(), nullptr);
  if (!s.ok()) return s;
  const auto skipped = static_cast<size_t>(offset - first);
  const size_t got = read.size() <= skipped ? 0 : std::min(n, read.size() - skipped);
  if (got > 0) std::memcpy(scratch, read.data() + skipped, got);
  *result = Slice(scratch, got);
  return s;
}

IOStatus RandomAccessFileReader::ReadUpTo(uint64_t offset, size_t n, Slice* result, char* scratch,
                                          const IOOptions& io_options) const {
  *result = Slice(scratch, 0);
  if (n == 0) return IOStatus::OK();
  if (offset > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) - n) {
    return IOStatus::InvalidArgument(file_name_, "read beyond the largest offset");
  }
  AskRateLimiter(n, io_options);
  const bool may_be_timed = options_.clock != nullptr && options_.read_histogram != kNoHistogram;
  Statistics* const stats = may_be_timed ? options_.stats : nullptr;
  const TimeIfWanted time(stats, options_.read_histogram, options_.clock);
  IOStatus s;
  {
    const ReadTimer timer;
    s = direct_ ? ReadAligned(offset, n, result, scratch, io_options)
                : ReadLoop(offset, n, result, scratch, io_options);
  }
  if (time.wanted()) {
    const uint64_t micros = time.Micros();
    RecordTimeToHistogram(stats, options_.read_histogram, micros);
    if (options_.read_latencies != nullptr) options_.read_latencies->Add(micros);
    const uint32_t of_activity = HistogramOf(io_options.io_activity);
    if (of_activity != kNoHistogram) RecordTimeToHistogram(stats, of_activity, micros);
  }
  if (!s.ok()) *result = Slice(scratch, 0);
  Count(result->size());
  return s;
}

IOStatus RandomAccessFileReader::Read(uint64_t offset, size_t n, Slice* result, char* scratch,
                                      const IOOptions& io_options) const {
  IOStatus s = ReadUpTo(offset, n, result, scratch, io_options);
  if (s.ok() && result->size() != n) return EndsBefore(offset, n, result->size());
  return s;
}

IOStatus RandomAccessFileReader::MultiReadAligned(FSReadRequest* requests, size_t count,
                                                  const IOOptions& io_options) const {
  std::vector<AlignedBuffer> buffers(count);
  std::vector<FSReadRequest> aligned(count);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t first = RoundDown(requests[i].offset, alignment_);
    aligned[i].offset = first;
    aligned[i].len =
        static_cast<size_t>(RoundUp(requests[i].offset + requests[i].len, alignment_) - first);
    if (!buffers[i].Allocate(aligned[i].len, alignment_)) {
      return IOStatus::Aborted(file_name_, "no memory for an aligned read");
    }
    aligned[i].scratch = buffers[i].data();
  }
  IOStatus s = file_->MultiRead(aligned.data(), count, io_options, nullptr);
  if (!s.ok()) return s;
  for (size_t i = 0; i < count; ++i) {
    FSReadRequest& r = requests[i];
    const auto skipped = static_cast<size_t>(r.offset - aligned[i].offset);
    const Slice& read = aligned[i].result;
    const size_t got = read.size() <= skipped ? 0 : std::min(r.len, read.size() - skipped);
    if (got > 0) std::memcpy(r.scratch, read.data() + skipped, got);
    r.result = Slice(r.scratch, got);
    r.status = std::move(aligned[i].status);
  }
  return s;
}

IOStatus RandomAccessFileReader::MultiRead(FSReadRequest* requests, size_t count,
                                           const IOOptions& io_options) const {
  if (count == 1) {
    FSReadRequest& r = requests[0];
    r.status = Read(r.offset, r.len, &r.result, r.scratch, io_options);
    return IOStatus::OK();
  }
  for (size_t i = 0; i < count; ++i) AskRateLimiter(requests[i].len, io_options);
  IOStatus s;
  {
    const ReadTimer timer;
    s = direct_ ? MultiReadAligned(requests, count, io_options)
                : file_->MultiRead(requests, count, io_options, nullptr);
  }
  if (!s.ok()) return s;
  for (size_t i = 0; i < count; ++i) {
    FSReadRequest& r = requests[i];
    Count(r.result.size());
    if (!r.status.ok() || r.result.size() == r.len) continue;
    // Reads the request again alone: the file system may have been interrupted.
    r.status = Read(r.offset, r.len, &r.result, r.scratch, io_options);
  }
  return s;
}

IOStatus RandomAccessFileReader::LimitTime(std::chrono::microseconds deadline,
                                           IOOptions* io_options) const {
  SystemClock* const clock =
      options_.clock != nullptr ? options_.clock : SystemClock::Default().get();
  const std::chrono::microseconds now(clock->NowMicros());
  if (now >= deadline) return IOStatus::TimedOut(file_name_, "the read's deadline has passed");
  const std::chrono::microseconds left = deadline - now;
  if (io_options->timeout.count() == 0 || left < io_options->timeout) io_options->timeout = left;
  return IOStatus::OK();
}

IOStatus RandomAccessFileReader::Prefetch(uint64_t offset, size_t n,
                                          const IOOptions& io_options) const {
  return file_->Prefetch(offset, n, io_options, nullptr);
}

}  // namespace varve
