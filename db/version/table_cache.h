// SPDX-License-Identifier: Apache-2.0
#pragma once

// Open table readers of one column family: hung off the file's metadata when open files are
// unlimited, kept by recency within max_open_files otherwise.

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

// A borrowed reader; while it lives the reader stays open. Movable.
class TableRef {
 public:
  TableRef() = default;
  TableRef(TableRef&& other) noexcept;
  TableRef& operator=(TableRef&& other) noexcept;
  ~TableRef() { Reset(); }

  const TableReader* get() const { return reader_; }
  const TableReader* operator->() const { return reader_; }
  explicit operator bool() const { return reader_ != nullptr; }
  void Reset() {
    VARVE_ASSERT(handle_ == nullptr || cache_ != nullptr);
    reader_ = nullptr;
    if (handle_ != nullptr) [[unlikely]]
      cache_->Release(std::exchange(handle_, nullptr));
  }

 private:
  friend class TableCache;
  const TableReader* reader_ = nullptr;
  // Set when the reader is held by recency.
  Cache* cache_ = nullptr;
  Cache::Handle* handle_ = nullptr;
};

// What is the same for every table of the family.
struct TableCacheOptions {
  TablePathsRef paths;  // where table files are
  std::shared_ptr<FileSystem> fs;
  FileOptions file_options;
  const InternalKeyComparator* icmp = nullptr;            // outlives the cache
  std::shared_ptr<const ColumnFamilyOptions> cf_options;  // table factory, prefix extractor
  Statistics* statistics = nullptr;
  SystemClock* clock = nullptr;
  // Shared by all families of the database when max_open_files limits them; null: unlimited.
  std::shared_ptr<Cache> limited;
  bool verify_unique_id = true;
};

// Thread safety: all methods from any thread.
class TableCache {
 public:
  explicit TableCache(TableCacheOptions options);
  // The LRU for `limited`: holds max_open_files readers.
  static std::shared_ptr<Cache> NewLimitedCache(int max_open_files);

  // The file's reader, opened if need be. Hot: an acquire load when open files are unlimited.
  Status Find(FileMetaData* file, int level, const ReadOptions& options, TableRef* table) {
    if (TableReader* reader = file->reader.load(std::memory_order_acquire)) {
      table->Reset();
      table->reader_ = reader;
      return Status::OK();
    }
    return FindSlow(file, level, options, table);
  }

  // Opens the file, but reads nothing: the reader that a later Find makes takes it over. A process
  // that deletes it meanwhile takes nothing away. Where open files are limited it is only opened
  // and closed. `look` is called with the file, and its status returned.
  Status OpenAhead(FileMetaData* file, int level,
                   const std::function<Status(const RandomAccessFileReader&)>& look);

  // A reader of a file that is not in the tree yet, at `path`: nobody else knows of it. Messages
  // call it `name`. The level is where it is expected to come. With a largest_seq of
  // kMaxSequenceNumber entries have the numbers that stand in the file.
  Status OpenOutside(const TableFacts& file, const std::string& path, const std::string& name,
                     int level, std::unique_ptr<TableReader>* reader);
  // Keeps such a reader as if Find had opened it. Before anybody else meets the file. Best effort.
  void Adopt(FileMetaData* file, std::unique_ptr<TableReader> reader);

  // Drops an obsolete file's reader from the limited cache.
  void Evict(uint64_t file_number) {
    if (options_.limited != nullptr) Evict(options_.limited.get(), file_number);
  }
  static void Evict(Cache* limited, uint64_t file_number);
  std::string FileName(const FileMetaData& file) const;
  const TableCacheOptions& options() const { return options_; }
  // How long reads of files took, by the levels in which these were opened; null: of none.
  std::vector<std::shared_ptr<SharedHistogram>> read_latencies() const;
  void ForgetReadLatencies();
  // Bytes of the block cache that stand for open readers.
  size_t charged() const { return charge_ == nullptr ? 0 : charge_->charged(); }

 private:
  Status FindSlow(FileMetaData* file, int level, const ReadOptions& options, TableRef* table);
  // TimedOut once the options' deadline has passed: no table is opened then.
  Status CheckTime(const ReadOptions& options, const FileMetaData& file) const;
  std::shared_ptr<SharedHistogram> ReadLatenciesOf(int level);
  RandomAccessFileReader::Options ReaderOptions(const TableFacts& file, int level);
  IOStatus OpenFile(const FileMetaData& file, int level,
                    std::unique_ptr<RandomAccessFileReader>* handle);
  Status OpenReader(FileMetaData* file, int level, std::unique_ptr<TableReader>* reader);
  Status OpenTable(const TableFacts& file, const std::string& name, int level,
                   std::unique_ptr<RandomAccessFileReader> handle,
                   std::unique_ptr<TableReader>* reader);

  // Opens of one file wait for each other, so that it is opened once; those of others rarely do.
  static constexpr size_t kStripes = 16;
  struct Stripe {
    // Of no rank: held over I/O, in which a file system of the user may call the database.
    IoMutex mu;
  };
  IoMutex& StripeOf(uint64_t file_number) { return opening_[file_number % kStripes].mu; }

  const TableCacheOptions options_;
  // What open readers are charged to; null: nothing.
  const std::shared_ptr<CacheCharge> charge_;
  Stripe opening_[kStripes];
  mutable Mutex latencies_mu_;
  std::vector<std::shared_ptr<SharedHistogram>> latencies_ VARVE_GUARDED_BY(latencies_mu_);
};

}  // namespace varve
