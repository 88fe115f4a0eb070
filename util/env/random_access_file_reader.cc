// SPDX-License-Identifier: Apache-2.0

// Every read goes through the same steps: the rate limiter is asked, if the options name a
// priority; the clock is read, if the thread or the statistics record times; the bytes are read, in
// a loop because one call may return fewer; and they are counted, by activity, temperature and
// level. Read adds that a file which ends early is Corruption.
//
//     ReadLoop       files that may be read at any offset; the result may lie outside of scratch
//     ReadAligned    direct I/O: the aligned range around the wanted one, then a copy
//
// A file of the operating system itself, with nothing between (posix_), has faster ways for several
// reads at once; multi_read.cc has these.

#include "util/env/random_access_file_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <typeinfo>
#include <utility>

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

// Returns null if the file is not the operating system's, or something lies between. It compares
// exact types, because a wrapper that a program derives must see every read.
PosixRandomAccessFile* AsPosix(FSRandomAccessFile* file) {
  const FSRandomAccessFile& any = *file;
  return typeid(any) == typeid(PosixRandomAccessFile) ? static_cast<PosixRandomAccessFile*>(file)
                                                      : nullptr;
}

}  // namespace

RandomAccessFileReader::RandomAccessFileReader(std::unique_ptr<FSRandomAccessFile> file,
                                               std::string file_name, const Options& options)
    : file_name_(std::move(file_name)),
      options_(options),
      file_(std::move(file)),
      direct_(file_->use_direct_io()),
      alignment_(file_->GetRequiredBufferAlignment()),
      posix_(AsPosix(file_.get())) {}

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
  own.page_cached = AsPosix(file.get()) != nullptr && !file->use_direct_io();
  *reader = std::make_unique<RandomAccessFileReader>(std::move(file), fname, own);
  int64_t supported = 0;
  fs->SupportedOps(supported);
  if ((supported >> FSSupportedOps::kAsyncIO & 1) != 0) (*reader)->async_fs_ = fs;
  return s;
}

bool RandomAccessFileReader::copies_from_mapping(size_t n) const {
  return posix_ != nullptr && posix_->CopiesFromMapping(n);
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

void RandomAccessFileReader::RecordTime(uint64_t micros, const IOOptions& io_options) const {
  RecordTimeToHistogram(options_.stats, options_.read_histogram, micros);
  if (options_.read_latencies != nullptr) options_.read_latencies->Add(micros);
  const uint32_t of_activity = HistogramOf(io_options.io_activity);
  if (of_activity != kNoHistogram) RecordTimeToHistogram(options_.stats, of_activity, micros);
}

void RandomAccessFileReader::AskRateLimiter(size_t n, const IOOptions& io_options) const {
  RateLimiter* const limiter = options_.rate_limiter;
  if (limiter == nullptr || io_options.rate_limiter_priority == Env::IO_TOTAL) return;
  while (n > 0) {
    const size_t granted = limiter->RequestToken(n, 0, io_options.rate_limiter_priority,
                                                 options_.stats, RateLimiter::OpType::kRead);
    // A user's limiter that grants nothing, or too much, must not stop the read.
    if (granted == 0 || granted >= n) return;
    n -= granted;
  }
}

// A file system may return fewer bytes than asked without being at the end; only an empty result is
// the end. From the second call on all pieces must lie one behind the other, so they are gathered
// in scratch.
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

// Two clocks may run: the histogram's and, within it, the thread's (ReadTimer). Neither covers the
// wait for the rate limiter.
IOStatus RandomAccessFileReader::ReadUpTo(uint64_t offset, size_t n, Slice* result, char* scratch,
                                          const IOOptions& io_options) const {
  *result = Slice(scratch, 0);
  if (n == 0) return IOStatus::OK();
  if (offset > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) - n) {
    return IOStatus::InvalidArgument(file_name_, "read beyond the largest offset");
  }
  AskRateLimiter(n, io_options);
  const TimeIfWanted time(timed_statistics(), options_.read_histogram, options_.clock);
  IOStatus s;
  {
    const ReadTimer timer;
    s = direct_ ? ReadAligned(offset, n, result, scratch, io_options)
                : ReadLoop(offset, n, result, scratch, io_options);
  }
  if (time.wanted()) RecordTime(time.Micros(), io_options);
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
