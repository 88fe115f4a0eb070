// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares what RocksDB 7.8's Java glue uses and RocksDB 11 has no more. The glue is compiled with
// ROCKSDB_NAMESPACE=varve::java, in which Varve's classes are, and those of them that have lost
// members are replaced by heirs that have them. The lost members were hints: they keep their values
// and have no other effect. Listeners are the glue's: their callbacks name the glue's class of
// databases, and conditions of stalls by RocksDB 7.8's numbers.
//
// java_counters.inc, which tools/java/build writes, has the tickers and histograms that the glue
// names: those of Varve with Varve's numbers, and the others with numbers that no counter has.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "varve/convenience.h"
#include "varve/db.h"
#include "varve/env.h"
#include "varve/env_wrappers.h"
#include "varve/options.h"
#include "varve/statistics.h"
#include "varve/table.h"
#include "varve/thread_status.h"
#include "varve/trace_reader_writer.h"
#include "varve/utilities/db_ttl.h"
#include "varve/utilities/memory_util.h"
#include "varve/utilities/optimistic_transaction_db.h"
#include "varve/utilities/options_util.h"
#include "varve/utilities/transaction_db.h"
#include "varve/utilities/write_batch_with_index.h"
#include "varve/write_batch.h"

namespace varve::java {

using namespace ::varve;

#include "java_counters.inc"

// The members that RocksDB 8 to 11 dropped from options of a column family.
struct LostFamilyMembers {
  int max_write_buffer_number_to_maintain = 0;
  double experimental_mempurge_threshold = 0;
};

class EventListener;

// The members that RocksDB 8 to 11 dropped from options of a database.
struct LostMembers {
  enum AccessHint { NONE, NORMAL, SEQUENTIAL, WILLNEED };
  AccessHint access_hint_on_compaction_start = NORMAL;
  size_t random_access_max_buffer_size = 1024 * 1024;
};

struct Options;

struct DBOptions : ::varve::DBOptions, LostMembers {
  DBOptions() = default;
  DBOptions(const ::varve::DBOptions& options) : ::varve::DBOptions(options) {}
  explicit DBOptions(const Options& options);
  // Returns the options as Varve takes them, with the listeners.
  ::varve::DBOptions Plain() const;

  std::vector<std::shared_ptr<EventListener>> listeners;  // They hide Varve's, of another type.

  // Sets the options whose defaults RocksDB has changed since this version as they were in it.
  DBOptions* OldDefaults(int major, int minor) {
    const std::pair version(major, minor);
    if (version < std::pair(4, 7)) {
      max_file_opening_threads = 1;
      table_cache_numshardbits = 4;
    }
    if (version < std::pair(5, 6)) {
      delayed_write_rate = uint64_t{version < std::pair(5, 2) ? 2u : 16u} << 20;
    }
    max_open_files = 5000;
    wal_recovery_mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
    return this;
  }
};

struct ColumnFamilyOptions : ::varve::ColumnFamilyOptions, LostFamilyMembers {
  ColumnFamilyOptions() = default;
  ColumnFamilyOptions(const ::varve::ColumnFamilyOptions& options)
      : ::varve::ColumnFamilyOptions(options) {}
  explicit ColumnFamilyOptions(const Options& options);
  // Sets the options whose defaults RocksDB has changed since this version as they were in it.
  ColumnFamilyOptions* OldDefaults(int major, int minor) {
    const std::pair version(major, minor);
    if (version < std::pair(4, 7)) {
      write_buffer_size = 4 << 20;
      target_file_size_base = 2 << 20;
      max_bytes_for_level_base = 10 << 20;
      soft_pending_compaction_bytes_limit = 0;
      hard_pending_compaction_bytes_limit = 0;
    }
    if (version < std::pair(5, 2)) level0_stop_writes_trigger = major < 5 ? 24 : 30;
    if (version < std::pair(5, 19)) compaction_pri = CompactionPri::kByCompensatedSize;
    return this;
  }
};

struct Options : DBOptions, ColumnFamilyOptions {
  Options() = default;
  Options(const ::varve::Options& options)
      : DBOptions(static_cast<const ::varve::DBOptions&>(options)),
        ColumnFamilyOptions(static_cast<const ::varve::ColumnFamilyOptions&>(options)) {}
  Options(const DBOptions& database, const ColumnFamilyOptions& family)
      : DBOptions(database), ColumnFamilyOptions(family) {}
  operator ::varve::Options() const {
    return ::varve::Options(Plain(), static_cast<const ::varve::ColumnFamilyOptions&>(*this));
  }
  Options* OldDefaults(int major, int minor) {
    DBOptions::OldDefaults(major, minor);
    ColumnFamilyOptions::OldDefaults(major, minor);
    return this;
  }
  Options* PrepareForBulkLoad() { return Change(&::varve::Options::PrepareForBulkLoad); }
  Options* OptimizeForSmallDb() { return Change(&::varve::Options::OptimizeForSmallDb); }

 private:
  Options* Change(::varve::Options* (::varve::Options::*change)()) {
    ::varve::Options changed = *this;
    (changed.*change)();
    static_cast<::varve::DBOptions&>(*this) = changed;
    static_cast<::varve::ColumnFamilyOptions&>(*this) = changed;
    return this;
  }
};

inline DBOptions::DBOptions(const Options& options)
    : DBOptions(static_cast<const DBOptions&>(options)) {}

inline ColumnFamilyOptions::ColumnFamilyOptions(const Options& options)
    : ColumnFamilyOptions(static_cast<const ColumnFamilyOptions&>(options)) {}

struct ReadOptions : ::varve::ReadOptions {
  using ::varve::ReadOptions::ReadOptions;
  ReadOptions() = default;
  bool managed = false;
};

struct BlockBasedTableOptions : ::varve::BlockBasedTableOptions {
  std::shared_ptr<Cache> block_cache_compressed;
};

// A descriptor whose options the glue takes the address of, as those of its own type.
struct ColumnFamilyDescriptor : ::varve::ColumnFamilyDescriptor {
  class View {
   public:
    explicit View(const ::varve::ColumnFamilyDescriptor* of) : of_(of) {}
    const ColumnFamilyOptions* operator&() const {
      copy_.emplace(of_->options);
      return std::addressof(*copy_);
    }

   private:
    const ::varve::ColumnFamilyDescriptor* const of_;
    mutable std::optional<ColumnFamilyOptions> copy_;
  };

  ColumnFamilyDescriptor() = default;
  ColumnFamilyDescriptor(const std::string& family, const ColumnFamilyOptions& family_options)
      : ::varve::ColumnFamilyDescriptor(family, family_options) {}
  ColumnFamilyDescriptor(const ::varve::ColumnFamilyDescriptor& other)
      : ::varve::ColumnFamilyDescriptor(other) {}
  ColumnFamilyDescriptor(const ColumnFamilyDescriptor& other)
      : ::varve::ColumnFamilyDescriptor(other) {}
  ColumnFamilyDescriptor& operator=(const ColumnFamilyDescriptor&) = delete;

  View options{this};
};

using Descriptors = std::vector<ColumnFamilyDescriptor>;
using Handles = std::vector<ColumnFamilyHandle*>;

inline std::vector<::varve::ColumnFamilyDescriptor> Plain(const Descriptors& families) {
  return {families.begin(), families.end()};
}

// Opens a database as `Wanted`, one of the classes below. These add no members and no virtual
// functions to `Base`, so that the cast of an object that is none of theirs does no harm.
template <typename Base, typename Wanted, typename Open>
Status OpenAs(Wanted** db, const Open& open) {
  Base* opened = nullptr;
  const Status s = open(&opened);
  *db = static_cast<Wanted*>(opened);
  return s;
}

// Holds the options of traces of queries, as far as Java has them. As it is a class of its own,
// DB::StartTrace below is a function beside the virtual one of the base.
struct TraceOptions {
  uint64_t max_trace_file_size = uint64_t{64} << 30;
};

// Forwards to a writer that its owner takes back if no trace begins.
class LentTraceWriter final : public TraceWriter {
 public:
  using Lent = std::shared_ptr<std::unique_ptr<TraceWriter>>;
  explicit LentTraceWriter(Lent lent) : lent_(std::move(lent)) {}

  Status Write(const Slice& data) override { return (*lent_)->Write(data); }
  Status Close() override { return (*lent_)->Close(); }
  uint64_t GetFileSize() override { return (*lent_)->GetFileSize(); }

 private:
  const Lent lent_;
};

class DB : public ::varve::DB {
 public:
  static Status Open(const Options& options, const std::string& name, DB** db) {
    return OpenAs<::varve::DB>(
        db, [&](::varve::DB** to) { return ::varve::DB::Open(options, name, to); });
  }
  static Status Open(const DBOptions& options, const std::string& name, const Descriptors& families,
                     Handles* handles, DB** db) {
    return OpenAs<::varve::DB>(db, [&](::varve::DB** to) {
      return ::varve::DB::Open(options.Plain(), name, Plain(families), handles, to);
    });
  }
  static Status OpenForReadOnly(const Options& options, const std::string& name, DB** db,
                                bool error_if_wal_file_exists = false) {
    return OpenAs<::varve::DB>(db, [&](::varve::DB** to) {
      return ::varve::DB::OpenForReadOnly(options, name, to, error_if_wal_file_exists);
    });
  }
  static Status OpenForReadOnly(const DBOptions& options, const std::string& name,
                                const Descriptors& families, Handles* handles, DB** db,
                                bool error_if_wal_file_exists = false) {
    return OpenAs<::varve::DB>(db, [&](::varve::DB** to) {
      return ::varve::DB::OpenForReadOnly(options.Plain(), name, Plain(families), handles, to,
                                          error_if_wal_file_exists);
    });
  }
  static Status OpenAsSecondary(const Options& options, const std::string& name,
                                const std::string& secondary, DB** db) {
    return OpenAs<::varve::DB>(db, [&](::varve::DB** to) {
      return ::varve::DB::OpenAsSecondary(options, name, secondary, to);
    });
  }
  static Status OpenAsSecondary(const DBOptions& options, const std::string& name,
                                const std::string& secondary, const Descriptors& families,
                                Handles* handles, DB** db) {
    return OpenAs<::varve::DB>(db, [&](::varve::DB** to) {
      return ::varve::DB::OpenAsSecondary(options.Plain(), name, secondary, Plain(families),
                                          handles, to);
    });
  }

  using ::varve::DB::CreateColumnFamilies;
  Status CreateColumnFamilies(const Descriptors& families, Handles* handles) {
    return static_cast<::varve::DB*>(this)->CreateColumnFamilies(Plain(families), handles);
  }
  using ::varve::DB::DeleteRange;
  // The glue names the default family by null, and its slices can be changed, which prefers this
  // function to the base's.
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, Slice& begin,
                     Slice& end) {
    ::varve::DB* const base = this;
    return base->DeleteRange(options, family != nullptr ? family : DefaultColumnFamily(), begin,
                             end);
  }
  using ::varve::DB::EnableFileDeletions;
  // Calls are counted: `force` would forget those of others.
  Status EnableFileDeletions(bool /*force*/) { return EnableFileDeletions(); }
  // RocksDB has dropped it because it brought deleted keys back.
  Status DeleteFile(const std::string& /*name*/) {
    return Status::NotSupported("DeleteFile: use DeleteFilesInRanges");
  }
  // The Java object gives its writer up only if this succeeds, but the glue takes it before.
  Status StartTrace(const TraceOptions& options, std::unique_ptr<TraceWriter>&& writer) {
    const auto lent = std::make_shared<std::unique_ptr<TraceWriter>>(std::move(writer));
    ::varve::TraceOptions plain;
    plain.max_trace_file_size = options.max_trace_file_size;
    ::varve::DB* const base = this;
    Status s = base->StartTrace(plain, std::make_unique<LentTraceWriter>(lent));
    if (!s.ok()) (void)lent->release();
    return s;
  }
};

// RocksDB 7.8's numbers, which the Java class has.
enum class WriteStallCondition { kNormal, kDelayed, kStopped };

struct WriteStallInfo {
  std::string cf_name;
  struct {
    WriteStallCondition cur = WriteStallCondition::kNormal;
    WriteStallCondition prev = WriteStallCondition::kNormal;
  } condition;
};

// Receives Varve's callbacks whose arguments have other types in the glue.
class ListenerBase : public ::varve::EventListener {
 public:
  void OnFlushBegin(::varve::DB* db, const FlushJobInfo& info) final { FlushBegun(Own(db), info); }
  void OnFlushCompleted(::varve::DB* db, const FlushJobInfo& info) final {
    FlushEnded(Own(db), info);
  }
  void OnCompactionBegin(::varve::DB* db, const CompactionJobInfo& info) final {
    CompactionBegun(Own(db), info);
  }
  void OnCompactionCompleted(::varve::DB* db, const CompactionJobInfo& info) final {
    CompactionEnded(Own(db), info);
  }
  void OnExternalFileIngested(::varve::DB* db, const ExternalFileIngestionInfo& info) final {
    Ingested(Own(db), info);
  }
  void OnStallConditionsChanged(const ::varve::WriteStallInfo& info) final {
    WriteStallInfo told;
    told.cf_name = info.cf_name;
    told.condition.cur = OldNumber(info.condition.cur);
    told.condition.prev = OldNumber(info.condition.prev);
    StallChanged(told);
  }

 private:
  static DB* Own(::varve::DB* db) { return static_cast<DB*>(db); }
  static WriteStallCondition OldNumber(::varve::WriteStallCondition condition) {
    switch (condition) {
      case ::varve::WriteStallCondition::kDelayed:
        return WriteStallCondition::kDelayed;
      case ::varve::WriteStallCondition::kStopped:
        return WriteStallCondition::kStopped;
      default:
        return WriteStallCondition::kNormal;
    }
  }

  virtual void FlushBegun(DB* db, const FlushJobInfo& info) = 0;
  virtual void FlushEnded(DB* db, const FlushJobInfo& info) = 0;
  virtual void CompactionBegun(DB* db, const CompactionJobInfo& info) = 0;
  virtual void CompactionEnded(DB* db, const CompactionJobInfo& info) = 0;
  virtual void Ingested(DB* db, const ExternalFileIngestionInfo& info) = 0;
  virtual void StallChanged(const WriteStallInfo& info) = 0;
};

// The class whose heirs the glue makes: its functions hide those of Varve that they stand for.
class EventListener : public ListenerBase {
 public:
  virtual void OnFlushBegin(DB* /*db*/, const FlushJobInfo& /*info*/) {}
  virtual void OnFlushCompleted(DB* /*db*/, const FlushJobInfo& /*info*/) {}
  virtual void OnCompactionBegin(DB* /*db*/, const CompactionJobInfo& /*info*/) {}
  virtual void OnCompactionCompleted(DB* /*db*/, const CompactionJobInfo& /*info*/) {}
  virtual void OnExternalFileIngested(DB* /*db*/, const ExternalFileIngestionInfo& /*info*/) {}
  virtual void OnStallConditionsChanged(const WriteStallInfo& /*info*/) {}

 private:
  void FlushBegun(DB* db, const FlushJobInfo& info) final { OnFlushBegin(db, info); }
  void FlushEnded(DB* db, const FlushJobInfo& info) final { OnFlushCompleted(db, info); }
  void CompactionBegun(DB* db, const CompactionJobInfo& info) final { OnCompactionBegin(db, info); }
  void CompactionEnded(DB* db, const CompactionJobInfo& info) final {
    OnCompactionCompleted(db, info);
  }
  void Ingested(DB* db, const ExternalFileIngestionInfo& info) final {
    OnExternalFileIngested(db, info);
  }
  void StallChanged(const WriteStallInfo& info) final { OnStallConditionsChanged(info); }
};

inline ::varve::DBOptions DBOptions::Plain() const {
  ::varve::DBOptions plain = *this;
  for (const auto& listener : listeners) plain.listeners.push_back(listener);
  return plain;
}

// Transactions whose calls the glue binds with its own ReadOptions.
class Transaction : public ::varve::Transaction {
 public:
  using ::varve::Transaction::Get;
  using ::varve::Transaction::GetForUpdate;
  using ::varve::Transaction::MultiGet;
  using ::varve::Transaction::MultiGetForUpdate;
  using Keys = std::vector<Slice>;
  using Values = std::vector<std::string>;

  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
             std::string* value) {
    return Get(Plain(options), family, key, value);
  }
  Status Get(const ReadOptions& options, const Slice& key, std::string* value) {
    return Get(Plain(options), key, value);
  }
  Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                      std::string* value, bool exclusive, bool validate) {
    return GetForUpdate(Plain(options), family, key, value, exclusive, validate);
  }
  Status GetForUpdate(const ReadOptions& options, const Slice& key, std::string* value,
                      bool exclusive, bool validate) {
    return GetForUpdate(Plain(options), key, value, exclusive, validate);
  }
  std::vector<Status> MultiGet(const ReadOptions& options, const Handles& families,
                               const Keys& keys, Values* values) {
    return MultiGet(Plain(options), families, keys, values);
  }
  std::vector<Status> MultiGet(const ReadOptions& options, const Keys& keys, Values* values) {
    return MultiGet(Plain(options), keys, values);
  }
  std::vector<Status> MultiGetForUpdate(const ReadOptions& options, const Handles& families,
                                        const Keys& keys, Values* values) {
    return MultiGetForUpdate(Plain(options), families, keys, values);
  }
  std::vector<Status> MultiGetForUpdate(const ReadOptions& options, const Keys& keys,
                                        Values* values) {
    return MultiGetForUpdate(Plain(options), keys, values);
  }
  // The engine sets the log number of a prepared transaction itself.
  void SetLogNumber(uint64_t /*log*/) {}

 private:
  static const ::varve::ReadOptions& Plain(const ReadOptions& options) { return options; }
};

class TransactionDB : public ::varve::TransactionDB {
 public:
  static Status Open(const Options& options, const TransactionDBOptions& of_transactions,
                     const std::string& name, TransactionDB** db) {
    return OpenAs<::varve::TransactionDB>(db, [&](::varve::TransactionDB** to) {
      return ::varve::TransactionDB::Open(options, of_transactions, name, to);
    });
  }
  static Status Open(const DBOptions& options, const TransactionDBOptions& of_transactions,
                     const std::string& name, const Descriptors& families, Handles* handles,
                     TransactionDB** db) {
    return OpenAs<::varve::TransactionDB>(db, [&](::varve::TransactionDB** to) {
      return ::varve::TransactionDB::Open(options.Plain(), of_transactions, name, Plain(families),
                                          handles, to);
    });
  }

  // The base's functions, with the glue's type of transactions.
  Transaction* BeginTransaction(const WriteOptions& write,
                                const TransactionOptions& options = TransactionOptions(),
                                Transaction* old = nullptr) {
    return static_cast<Transaction*>(base()->BeginTransaction(write, options, old));
  }
  Transaction* GetTransactionByName(const std::string& name) {
    return static_cast<Transaction*>(base()->GetTransactionByName(name));
  }
  void GetAllPreparedTransactions(std::vector<Transaction*>* transactions) {
    std::vector<::varve::Transaction*> found;
    base()->GetAllPreparedTransactions(&found);
    for (::varve::Transaction* const one : found) {
      transactions->push_back(static_cast<Transaction*>(one));
    }
  }

 private:
  ::varve::TransactionDB* base() { return this; }
};

class OptimisticTransactionDB : public ::varve::OptimisticTransactionDB {
 public:
  // The base's function, with the glue's type of transactions.
  Transaction* BeginTransaction(
      const WriteOptions& write,
      const OptimisticTransactionOptions& options = OptimisticTransactionOptions(),
      Transaction* old = nullptr) {
    ::varve::OptimisticTransactionDB* const base = this;
    return static_cast<Transaction*>(base->BeginTransaction(write, options, old));
  }
  static Status Open(const Options& options, const std::string& name,
                     OptimisticTransactionDB** db) {
    return OpenAs<::varve::OptimisticTransactionDB>(db, [&](::varve::OptimisticTransactionDB** to) {
      return ::varve::OptimisticTransactionDB::Open(options, name, to);
    });
  }
  static Status Open(const DBOptions& options, const std::string& name, const Descriptors& families,
                     Handles* handles, OptimisticTransactionDB** db) {
    return OpenAs<::varve::OptimisticTransactionDB>(db, [&](::varve::OptimisticTransactionDB** to) {
      return ::varve::OptimisticTransactionDB::Open(options.Plain(), name, Plain(families), handles,
                                                    to);
    });
  }
};

class DBWithTTL : public ::varve::DBWithTTL {
 public:
  static Status Open(const Options& options, const std::string& name, DBWithTTL** db,
                     int32_t ttl = 0, bool read_only = false) {
    return OpenAs<::varve::DBWithTTL>(db, [&](::varve::DBWithTTL** to) {
      return ::varve::DBWithTTL::Open(options, name, to, ttl, read_only);
    });
  }
  static Status Open(const DBOptions& options, const std::string& name, const Descriptors& families,
                     Handles* handles, DBWithTTL** db, const std::vector<int32_t>& ttls,
                     bool read_only = false) {
    return OpenAs<::varve::DBWithTTL>(db, [&](::varve::DBWithTTL** to) {
      return ::varve::DBWithTTL::Open(options.Plain(), name, Plain(families), handles, to, ttls,
                                      read_only);
    });
  }
};

// Loads options by `load`, which fills Varve's descriptors.
template <typename Load>
Status LoadInto(Descriptors* families, const Load& load) {
  std::vector<::varve::ColumnFamilyDescriptor> loaded;
  const Status s = load(&loaded);
  for (const auto& family : loaded) families->emplace_back(family);
  return s;
}

inline Status LoadLatestOptions(const ConfigOptions& config, const std::string& path,
                                DBOptions* options, Descriptors* families,
                                std::shared_ptr<Cache>* cache = nullptr) {
  return LoadInto(families, [&](std::vector<::varve::ColumnFamilyDescriptor>* to) {
    return ::varve::LoadLatestOptions(config, path, options, to, cache);
  });
}

inline Status LoadOptionsFromFile(const ConfigOptions& config, const std::string& file,
                                  DBOptions* options, Descriptors* families,
                                  std::shared_ptr<Cache>* cache = nullptr) {
  return LoadInto(families, [&](std::vector<::varve::ColumnFamilyDescriptor>* to) {
    return ::varve::LoadOptionsFromFile(config, file, options, to, cache);
  });
}

inline Status LoadLatestOptions(const std::string& path, Env* env, DBOptions* options,
                                Descriptors* families, bool ignore_unknown_options = false,
                                std::shared_ptr<Cache>* cache = nullptr) {
  ConfigOptions config;
  config.env = env;
  config.ignore_unknown_options = ignore_unknown_options;
  return LoadLatestOptions(config, path, options, families, cache);
}

inline Status LoadOptionsFromFile(const std::string& file, Env* env, DBOptions* options,
                                  Descriptors* families, bool ignore_unknown_options = false,
                                  std::shared_ptr<Cache>* cache = nullptr) {
  ConfigOptions config;
  config.env = env;
  config.ignore_unknown_options = ignore_unknown_options;
  return LoadOptionsFromFile(config, file, options, families, cache);
}

// A mark in a batch, behind which updates would not go to the log.
struct SavePoint {
  size_t size = 0;
  int count = 0;
  uint32_t content_flags = 0;
};

class WriteBatch : public ::varve::WriteBatch {
 public:
  using ::varve::WriteBatch::WriteBatch;
  WriteBatch() = default;
  WriteBatch(const ::varve::WriteBatch& other) : ::varve::WriteBatch(other) {}

  // Varve logs all updates of a batch, which loses nothing: a mark has no effect, and is not kept.
  void MarkWalTerminationPoint() {}
  SavePoint GetWalTerminationPoint() const { return {}; }
};

class WriteBatchWithIndex : public ::varve::WriteBatchWithIndex {
 public:
  using ::varve::WriteBatchWithIndex::WriteBatchWithIndex;
  WriteBatchWithIndex() = default;

  WriteBatch* GetWriteBatch() override {
    return static_cast<WriteBatch*>(::varve::WriteBatchWithIndex::GetWriteBatch());
  }
};

struct EnvOptions : ::varve::EnvOptions {
  using ::varve::EnvOptions::EnvOptions;
  EnvOptions() = default;
  size_t random_access_max_buffer_size = 1024 * 1024;
};

// An environment that measures its calls; Varve measures them itself (perf_context.h).
inline Env* NewTimedEnv(Env* base) {
  return new EnvWrapper(base);
}

class MemoryUtil : public ::varve::MemoryUtil {
 public:
  static Status GetApproximateMemoryUsageByType(const std::vector<DB*>& databases,
                                                const std::unordered_set<const Cache*>& caches,
                                                std::map<UsageType, uint64_t>* usage) {
    return ::varve::MemoryUtil::GetApproximateMemoryUsageByType(
        {databases.begin(), databases.end()}, caches, usage);
  }
};

}  // namespace varve::java
