// SPDX-License-Identifier: Apache-2.0

// With max_open_files = -1 a reader is attached to its FileMetaData and found by one atomic load;
// it goes with the file. Otherwise readers lie in a cache with one charge each, which closes those
// that have not been used for long, and each use needs a handle. Under both rules a table is opened
// under the stripe of its number, after a second look: two threads that miss at once open it once.

#include "db/version/table_cache.h"

#include <algorithm>
#include <utility>

#include "varve/statistics.h"
#include "varve/system_clock.h"
#include "varve/table.h"

#include "db/blob/blob_cache_charge.h"
#include "db/version/blob_source.h"
#include "db/version/reader_key.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/random_access_file_reader.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

void DeleteReader(Cache::ObjectPtr reader, MemoryAllocator*) {
  std::unique_ptr<TableReader>(static_cast<TableReader*>(reader)).reset();
}

constexpr Cache::CacheItemHelper kReaderHelper(CacheEntryRole::kMisc, &DeleteReader);

std::shared_ptr<CacheCharge> ReaderCharge(const ColumnFamilyOptions& options) {
  const auto* const table = options.table_factory->GetOptions<BlockBasedTableOptions>();
  if (table == nullptr) return nullptr;
  return NewCacheCharge(*table, CacheEntryRole::kBlockBasedTableReader);
}

std::shared_ptr<BlobCacheCharge> BlobCharge(const ColumnFamilyOptions& options) {
  const auto* const table = options.table_factory->GetOptions<BlockBasedTableOptions>();
  return table == nullptr ? nullptr : BlobCacheCharge::Of(options.blob_cache, *table);
}

BlobSourceOptions BlobOptions(const TableCacheOptions& options) {
  BlobSourceOptions blobs;
  blobs.paths = options.paths;
  blobs.open.fs = options.fs;
  blobs.open.file_options = options.file_options;
  blobs.open.column_family_id = options.family_id;
  blobs.open.statistics = options.statistics;
  blobs.open.clock = options.clock;
  blobs.limited = options.limited;
  blobs.cache = options.cf_options->blob_cache;
  blobs.charge = BlobCharge(*options.cf_options);
  blobs.open.rate_limiter = options.file_options.rate_limiter;
  blobs.shows_keys = options.shows_keys;
  return blobs;
}

}  // namespace

TableRef::TableRef(TableRef&& other) noexcept
    : reader_(std::exchange(other.reader_, nullptr)),
      cache_(std::exchange(other.cache_, nullptr)),
      handle_(std::exchange(other.handle_, nullptr)) {}

TableRef& TableRef::operator=(TableRef&& other) noexcept {
  if (this != &other) {
    Reset();
    reader_ = std::exchange(other.reader_, nullptr);
    cache_ = std::exchange(other.cache_, nullptr);
    handle_ = std::exchange(other.handle_, nullptr);
  }
  return *this;
}

TableCache::TableCache(TableCacheOptions options)
    : options_(std::move(options)),
      charge_(ReaderCharge(*options_.cf_options)),
      blobs_(std::make_unique<BlobSource>(BlobOptions(options_))) {}

TableCache::~TableCache() = default;

std::shared_ptr<Cache> TableCache::NewLimitedCache(int max_open_files) {
  LRUCacheOptions options;
  options.capacity = static_cast<size_t>(std::max(max_open_files, 1));
  // Each shard enforces its own part of the limit: with small limits the parts would be one or two
  // readers.
  options.num_shard_bits = max_open_files >= 1024 ? 4 : 0;
  options.metadata_charge_policy = kDontChargeCacheMetadata;
  return options.MakeSharedCache();
}

std::string TableCache::FileName(const FileMetaData& file) const {
  return options_.paths->FileName(file);
}

void TableCache::VisitLimited(Cache* limited,
                              const std::function<void(uint64_t, const TableReader&)>& visit) {
  limited->ApplyToAllEntries(
      [&visit](const Slice& key, Cache::ObjectPtr reader, size_t,
               const Cache::CacheItemHelper* helper) {
        if (helper != &kReaderHelper) return;
        visit(ReaderKey::NumberIn(key), *static_cast<const TableReader*>(reader));
      },
      Cache::ApplyToAllEntriesOptions());
}

void TableCache::Evict(Cache* limited, uint64_t file_number) {
  limited->Erase(ReaderKey(file_number).slice());
}

Status TableCache::CheckTime(const ReadOptions& options, const FileMetaData& file) const {
  if (options.deadline.count() == 0) return Status::OK();
  SystemClock* const clock =
      options_.clock != nullptr ? options_.clock : SystemClock::Default().get();
  if (clock->NowMicros() < static_cast<uint64_t>(options.deadline.count())) return Status::OK();
  return Status::TimedOut("the read's deadline has passed before the table was opened",
                          FileName(file));
}

// Looks, then asks if opening is allowed and worth it, then takes the stripe and looks again.
// Nothing is stored on failure, so the next reader tries anew.
Status TableCache::FindSlow(FileMetaData* file, int level, const ReadOptions& options,
                            TableRef* table) {
  table->Reset();
  Cache* const cache = options_.limited.get();
  const ReaderKey key(file->number);
  const auto borrow = [&](Cache::Handle* handle) {
    table->cache_ = cache;
    table->handle_ = handle;
    table->reader_ = static_cast<const TableReader*>(cache->Value(handle));
    VARVE_ASSERT(table->reader_ != nullptr);
  };
  if (cache != nullptr) {
    if (Cache::Handle* const handle = cache->Lookup(key.slice())) {
      borrow(handle);
      return Status::OK();
    }
  }
  if (options.read_tier == kBlockCacheTier) {
    return Status::Incomplete("the table is not open and no read is allowed", FileName(*file));
  }
  // Opening a table takes several reads; it is not begun for a read whose time is over.
  VARVE_RETURN_IF_ERROR(CheckTime(options, *file));
  IoMutexLock lock(&StripeOf(file->number));
  if (cache == nullptr) {
    // Another thread may have opened it while this one waited.
    if (TableReader* const reader = file->reader.load(std::memory_order_acquire)) {
      table->reader_ = reader;
      return Status::OK();
    }
  } else if (Cache::Handle* const handle = cache->Lookup(key.slice())) {
    borrow(handle);
    return Status::OK();
  }
  std::unique_ptr<TableReader> reader;
  Status s = OpenReader(file, level, &reader);
  if (!s.ok()) {
    RecordTick(options_.statistics, NO_FILE_ERRORS);
    return s;
  }
  // Older MANIFESTs lack the counts, which the properties have; planning uses them.
  file->SetCounts(CountsOf(*reader->properties()));
  if (cache == nullptr) {
    VARVE_ASSERT(file->reader.load(std::memory_order_relaxed) == nullptr);
    table->reader_ = reader.get();
    file->reader.store(reader.release(), std::memory_order_release);
    return s;
  }
  Cache::Handle* handle = nullptr;
  s = cache->Insert(key.slice(), reader.get(), &kReaderHelper, /*charge=*/1, &handle);
  if (!s.ok()) return s;
  (void)reader.release();  // owned by the cache now
  borrow(handle);
  return s;
}

std::shared_ptr<SharedHistogram> TableCache::ReadLatenciesOf(int level) {
  // Nothing is timed, or the table is in no tree.
  if (options_.statistics == nullptr || level < 0) return nullptr;
  const auto at = static_cast<size_t>(level);
  const MutexLock lock(&latencies_mu_);
  if (latencies_.size() <= at) latencies_.resize(at + 1);
  if (latencies_[at] == nullptr) latencies_[at] = std::make_shared<SharedHistogram>();
  return latencies_[at];
}

std::vector<std::shared_ptr<SharedHistogram>> TableCache::read_latencies() const {
  const MutexLock lock(&latencies_mu_);
  return latencies_;
}

void TableCache::ForgetReadLatencies() {
  const MutexLock lock(&latencies_mu_);
  for (const auto& of_level : latencies_) {
    if (of_level != nullptr) of_level->Clear();
  }
}

RandomAccessFileReader::Options TableCache::ReaderOptions(const TableFacts& file, int level) {
  RandomAccessFileReader::Options options;
  options.stats = options_.statistics;
  options.clock = options_.clock;
  options.rate_limiter = options_.file_options.rate_limiter;
  options.read_histogram = SST_READ_MICROS;
  options.read_latencies = ReadLatenciesOf(level);
  options.temperature = file.temperature != Temperature::kUnknown
                            ? file.temperature
                            : options_.cf_options->default_temperature;
  options.in_last_level = level == options_.cf_options->num_levels - 1;
  return options;
}

IOStatus TableCache::OpenFile(const FileMetaData& file, int level,
                              std::unique_ptr<RandomAccessFileReader>* handle) {
  const RandomAccessFileReader::Options reader_options = ReaderOptions(file, level);
  FileOptions file_options = options_.file_options;
  file_options.temperature = reader_options.temperature;
  RecordTick(options_.statistics, NO_FILE_OPENS);
  return options_.paths->UseFile(file, [&](const std::string& name) {
    return RandomAccessFileReader::Open(options_.fs.get(), name, file_options, reader_options,
                                        handle);
  });
}

// Leaves the file open for the reader that will be made of it: another process may delete the file
// before that.
Status TableCache::OpenAhead(FileMetaData* file, int level,
                             const std::function<Status(const RandomAccessFileReader&)>& look) {
  IoMutexLock lock(&StripeOf(file->number));
  if (file->reader.load(std::memory_order_acquire) != nullptr || file->opened_ahead != nullptr) {
    return Status::OK();
  }
  std::unique_ptr<RandomAccessFileReader> handle;
  VARVE_RETURN_IF_ERROR(OpenFile(*file, level, &handle));
  VARVE_RETURN_IF_ERROR(look(*handle));
  // A handle that is kept here would not count against a limit on open files.
  if (options_.limited == nullptr) file->opened_ahead = std::move(handle);
  return Status::OK();
}

// Requires the file's stripe, which guards opened_ahead.
Status TableCache::OpenReader(FileMetaData* opened, int level,
                              std::unique_ptr<TableReader>* reader) {
  const uint64_t start = options_.clock != nullptr ? options_.clock->NowMicros() : 0;
  std::unique_ptr<RandomAccessFileReader> handle = std::move(opened->opened_ahead);
  if (handle == nullptr) VARVE_RETURN_IF_ERROR(OpenFile(*opened, level, &handle));
  const std::string name = handle->file_name();
  const Status s = OpenTable(*opened, name, level, std::move(handle), reader);
  if (options_.clock != nullptr) {
    RecordTimeToHistogram(options_.statistics, TABLE_OPEN_IO_MICROS,
                          options_.clock->NowMicros() - start);
  }
  return s;
}

Status TableCache::OpenTable(const TableFacts& file, const std::string& name, int level,
                             std::unique_ptr<RandomAccessFileReader> handle,
                             std::unique_ptr<TableReader>* reader) {
  const ColumnFamilyOptions& cf = *options_.cf_options;
  TableOpenOptions open;
  open.icmp = options_.icmp;
  open.factory = cf.table_factory;
  open.prefix_extractor = cf.prefix_extractor;
  open.statistics = options_.statistics;
  open.file_name = name;
  open.level = level;
  open.largest_seq = file.largest_seq;
  open.timestamps_persisted = file.timestamps_persisted;
  if (options_.verify_unique_id) open.expected_unique_id = file.unique_id;
  open.charge = charge_;
  open.check_cached_blocks = cf.block_protection_bytes_per_key != 0;
  open.skip_filters = cf.optimize_filters_for_hits && level == cf.num_levels - 1;
  return TableReader::Open(open, std::move(handle), file.size, reader);
}

Status TableCache::OpenOutside(const TableFacts& file, const std::string& path,
                               const std::string& name, int level,
                               std::unique_ptr<TableReader>* reader) {
  std::unique_ptr<RandomAccessFileReader> handle;
  VARVE_RETURN_IF_ERROR(RandomAccessFileReader::Open(options_.fs.get(), path, options_.file_options,
                                                     ReaderOptions(file, level), &handle));
  return OpenTable(file, name, level, std::move(handle), reader);
}

void TableCache::Adopt(FileMetaData* file, std::unique_ptr<TableReader> reader) {
  file->SetCounts(CountsOf(*reader->properties()));
  Cache* const cache = options_.limited.get();
  if (cache == nullptr) {
    VARVE_ASSERT(file->reader.load(std::memory_order_relaxed) == nullptr);
    file->reader.store(reader.release(), std::memory_order_release);
    return;
  }
  const ReaderKey key(file->number);
  if (cache->Insert(key.slice(), reader.get(), &kReaderHelper, /*charge=*/1).ok()) {
    (void)reader.release();  // owned by the cache now
  }
}

}  // namespace varve
