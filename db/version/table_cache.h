// SPDX-License-Identifier: Apache-2.0
#pragma once

// Open table readers of one column family: attached to the file's metadata if open files are
// unlimited, else kept in an LRU cache within max_open_files.
//
//      max_open_files = -1:   FileMetaData::reader --> TableReader      one acquire load to find it
//      max_open_files = n:    LRU cache, by file number --> TableReader  closed when it is evicted
//
// Opening a table reads its footer, index and properties, so no mutex of the database is held
// meanwhile; two threads that want the same file wait for one another on a stripe of mutexes, and
// one of them opens it.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/cache.h"
#include "varve/file_system.h"
#include "varve/options.h"

#include "db/version/file_metadata.h"
#include "util/base/assert.h"
#include "util/env/random_access_file_reader.h"
#include "util/mem/cache_charge.h"
#include "util/metrics/histogram.h"
#include "util/sync/io_mutex.h"

namespace varve {

class BlobSource;

// A borrowed reader, which stays open while this object lives. Movable.
//
// Thread safety: none; several references to one reader may be used by several threads. The file's
// metadata, and the cache of TableCacheOptions::limited if there is one, must outlive it.
class TableRef {
 public:
  TableRef() = default;
  TableRef(TableRef&& other) noexcept;
  TableRef& operator=(TableRef&& other) noexcept;
  ~TableRef() { Reset(); }

  // Returns the reader; null if the reference is empty.
  const TableReader* get() const { return reader_; }
  const TableReader* operator->() const { return reader_; }
  explicit operator bool() const { return reader_ != nullptr; }
  // Gives the reader back.
  void Reset() {
    VARVE_ASSERT(handle_ == nullptr || cache_ != nullptr);
    reader_ = nullptr;
    if (handle_ != nullptr) [[unlikely]]
      cache_->Release(std::exchange(handle_, nullptr));
  }

 private:
  friend class TableCache;
  const TableReader* reader_ = nullptr;
  // Set if the reader is in the LRU cache.
  Cache* cache_ = nullptr;
  Cache::Handle* handle_ = nullptr;
};

// Options that are the same for every table of the family.
struct TableCacheOptions {
  TablePathsRef paths;  // directories of the table files
  uint32_t family_id = 0;
  std::shared_ptr<FileSystem> fs;
  FileOptions file_options;
  const InternalKeyComparator* icmp = nullptr;            // must outlive the cache
  std::shared_ptr<const ColumnFamilyOptions> cf_options;  // table factory, prefix extractor
  Statistics* statistics = nullptr;
  SystemClock* clock = nullptr;
  // Shared by all families of the database if max_open_files limits them; null: unlimited.
  std::shared_ptr<Cache> limited;
  bool verify_unique_id = true;
  bool shows_keys = false;  // messages of errors may show keys (allow_data_in_errors)
};

// Thread safety: all methods may be called from any thread. Calls that may open a table do I/O, so
// no mutex of the database may be held. Ownership: shared by super-versions and jobs of the family.
// A TableRef may only be used while the file's metadata and the cache of `limited` live. Errors:
// those of opening a file and of reading a damaged table; nothing is remembered of a failure, and
// the next call tries again.
class TableCache {
 public:
  // Makes a cache without readers.
  explicit TableCache(TableCacheOptions options);
  ~TableCache();
  // Returns the LRU cache for `limited`, which holds max_open_files readers.
  static std::shared_ptr<Cache> NewLimitedCache(int max_open_files);

  // Sets *table to the file's reader, which is opened if needed. `level` is where the file lies,
  // for statistics and filters; -1: it is in no tree. Returns Incomplete if the table is not open
  // and options.read_tier forbids reads, and TimedOut if it would have to be opened after
  // options.deadline.
  Status Find(FileMetaData* file, int level, const ReadOptions& options, TableRef* table) {
    if (TableReader* reader = file->reader.load(std::memory_order_acquire)) {
      table->Reset();
      table->reader_ = reader;
      return Status::OK();
    }
    return FindSlow(file, level, options, table);
  }

  // Opens the file, but makes no reader: the reader made by a later Find takes the open file over,
  // even if another process deletes the file meanwhile. If open files are limited, the file is only
  // opened and closed. Calls `look` with the file, and returns its status; if that is not OK, the
  // file is closed. Does nothing if the table, or its file, is open already.
  Status OpenAhead(FileMetaData* file, int level,
                   const std::function<Status(const RandomAccessFileReader&)>& look);

  // Opens a reader of a file at `path` that is not in the tree yet and not known to other threads.
  // Messages call the file `name`. `level` is its expected level. If file.largest_seq is
  // kMaxSequenceNumber, entries have their stored sequence numbers.
  Status OpenOutside(const TableFacts& file, const std::string& path, const std::string& name,
                     int level, std::unique_ptr<TableReader>* reader);
  // Keeps such a reader as if Find had opened it. Requires that other threads do not know the file
  // yet. Best effort.
  void Adopt(FileMetaData* file, std::unique_ptr<TableReader> reader);

  // Calls `visit` with the file number and the reader of each table that `limited` has. The cache
  // may also have readers of blob files, which are left out. No I/O; `visit` must not use the
  // cache.
  static void VisitLimited(Cache* limited,
                           const std::function<void(uint64_t, const TableReader&)>& visit);
  // Drops an obsolete file's reader from the limited cache.
  void Evict(uint64_t file_number) {
    if (options_.limited != nullptr) Evict(options_.limited.get(), file_number);
  }
  static void Evict(Cache* limited, uint64_t file_number);
  // Returns the path of the table.
  std::string FileName(const FileMetaData& file) const;
  const TableCacheOptions& options() const { return options_; }
  // Returns the blob files that the family's tables refer to.
  BlobSource& blobs() const { return *blobs_; }
  // Returns the latencies of file reads, by the level at which the file was opened; null for levels
  // without reads.
  std::vector<std::shared_ptr<SharedHistogram>> read_latencies() const;
  // Begins the latencies anew (ResetStats).
  void ForgetReadLatencies();
  // Returns the bytes of the block cache that are charged for open readers.
  size_t charged() const { return charge_ == nullptr ? 0 : charge_->charged(); }

 private:
  // Does Find for a reader that is not attached to the file.
  Status FindSlow(FileMetaData* file, int level, const ReadOptions& options, TableRef* table);
  // Returns TimedOut if the options' deadline has passed: then no table is opened.
  Status CheckTime(const ReadOptions& options, const FileMetaData& file) const;
  // Returns the histogram of a level, making it if needed.
  std::shared_ptr<SharedHistogram> ReadLatenciesOf(int level);
  // Returns how the file of a table is read: histogram, statistics, and messages.
  RandomAccessFileReader::Options ReaderOptions(const TableFacts& file, int level);
  // Opens the file of a table, but makes no reader of it.
  IOStatus OpenFile(const FileMetaData& file, int level,
                    std::unique_ptr<RandomAccessFileReader>* handle);
  // Opens a table in the tree, by the file that was opened ahead or by its name.
  Status OpenReader(FileMetaData* file, int level, std::unique_ptr<TableReader>* reader);
  // Makes a reader of an open file. Messages call it `name`.
  Status OpenTable(const TableFacts& file, const std::string& name, int level,
                   std::unique_ptr<RandomAccessFileReader> handle,
                   std::unique_ptr<TableReader>* reader);

  // Openings of one file wait for each other, so that it is opened once; openings of different
  // files rarely wait.
  static constexpr size_t kStripes = 16;
  struct Stripe {
    // Has no lock rank: it is held over I/O, during which a user's file system may call the
    // database.
    IoMutex mu;
  };
  IoMutex& StripeOf(uint64_t file_number) { return opening_[file_number % kStripes].mu; }

  const TableCacheOptions options_;
  // Charged for open readers; null: nothing is charged.
  const std::shared_ptr<CacheCharge> charge_;
  const std::unique_ptr<BlobSource> blobs_;
  Stripe opening_[kStripes];
  mutable Mutex latencies_mu_;
  std::vector<std::shared_ptr<SharedHistogram>> latencies_ VARVE_GUARDED_BY(latencies_mu_);
};

}  // namespace varve
