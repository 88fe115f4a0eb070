// SPDX-License-Identifier: Apache-2.0
#include "tests/shared_objects/object_rows.h"

#include <atomic>
#include <map>
#include <utility>

#include "varve/cache.h"
#include "varve/compaction_filter.h"
#include "varve/comparator.h"
#include "varve/concurrent_task_limiter.h"
#include "varve/env.h"
#include "varve/file_checksum.h"
#include "varve/filter_policy.h"
#include "varve/flush_block_policy.h"
#include "varve/listener.h"
#include "varve/memory_allocator.h"
#include "varve/memtablerep.h"
#include "varve/merge_operator.h"
#include "varve/rate_limiter.h"
#include "varve/slice_transform.h"
#include "varve/sst_file_manager.h"
#include "varve/sst_partitioner.h"
#include "varve/statistics.h"
#include "varve/table.h"
#include "varve/table_properties.h"
#include "varve/write_buffer_manager.h"

namespace varve::testing {

namespace {

// Counts the calls of a program's own object, and the objects it made that still exist.
struct Calls {
  std::atomic<uint64_t> made{0};
  std::atomic<uint64_t> left{0};
};

class CountingComparator final : public Comparator {
 public:
  const char* Name() const override { return "CountingComparator"; }
  int Compare(const Slice& a, const Slice& b) const override {
    calls.made++;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  mutable Calls calls;
};

class CountingOperator final : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "CountingOperator"; }
  bool Merge(const Slice&, const Slice*, const Slice& value, std::string* new_value,
             Logger*) const override {
    calls.made++;
    *new_value = value.ToString();
    return true;
  }
  mutable Calls calls;
};

class CountingFilter final : public CompactionFilter {
 public:
  explicit CountingFilter(Calls* calls) : calls_(calls) { calls_->left++; }
  ~CountingFilter() override { calls_->left--; }
  const char* Name() const override { return "CountingFilter"; }
  bool Filter(int, const Slice&, const Slice&, std::string*, bool*) const override {
    calls_->made++;
    return false;
  }

 private:
  Calls* const calls_;
};

struct OwnFilter {
  Calls calls;
  CountingFilter filter{&calls};
};

class CountingFilterFactory final : public CompactionFilterFactory {
 public:
  const char* Name() const override { return "CountingFilterFactory"; }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context&) override {
    return std::make_unique<CountingFilter>(&calls);
  }
  Calls calls;
};

class CountingCollector final : public TablePropertiesCollector {
 public:
  explicit CountingCollector(Calls* calls) : calls_(calls) { calls_->left++; }
  ~CountingCollector() override { calls_->left--; }
  const char* Name() const override { return "CountingCollector"; }
  Status AddUserKey(const Slice&, const Slice&, EntryType, SequenceNumber, uint64_t) override {
    calls_->made++;
    return Status::OK();
  }
  Status Finish(UserCollectedProperties*) override { return Status::OK(); }
  UserCollectedProperties GetReadableProperties() const override { return {}; }

 private:
  Calls* const calls_;
};

class CountingCollectorFactory final : public TablePropertiesCollectorFactory {
 public:
  const char* Name() const override { return "CountingCollectorFactory"; }
  TablePropertiesCollector* CreateTablePropertiesCollector(Context) override {
    return new CountingCollector(&calls);
  }
  Calls calls;
};

class CountingBlockPolicy final : public FlushBlockPolicy {
 public:
  explicit CountingBlockPolicy(Calls* calls) : calls_(calls) { calls_->left++; }
  ~CountingBlockPolicy() override { calls_->left--; }
  bool Update(const Slice&, const Slice&) override { return ++calls_->made % 8 == 0; }

 private:
  Calls* const calls_;
};

class CountingBlockPolicyFactory final : public FlushBlockPolicyFactory {
 public:
  const char* Name() const override { return "CountingBlockPolicyFactory"; }
  FlushBlockPolicy* NewFlushBlockPolicy(const BlockBasedTableOptions&,
                                        const BlockBuilder&) const override {
    return new CountingBlockPolicy(&calls);
  }
  mutable Calls calls;
};

class CountingListener final : public EventListener {
 public:
  void OnFlushCompleted(DB*, const FlushJobInfo&) override { calls.made++; }
  Calls calls;
};

class CountingLogger final : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override { calls.made++; }
  Calls calls;
};

class CountingAllocator final : public MemoryAllocator {
 public:
  const char* Name() const override { return "CountingAllocator"; }
  void* Allocate(size_t size) override {
    calls.made++;
    calls.left++;
    return ::operator new(size);
  }
  void Deallocate(void* p) override {
    calls.left--;
    ::operator delete(p);
  }
  Calls calls;
};

template <typename T>
SharedObject Counted(const std::shared_ptr<T>& object) {
  T* const raw = object.get();
  return {object, [raw] { return raw->calls.made.load(); },
          [raw] { return raw->calls.left.load(); }};
}

// Makes the row of a member that points to what `make` makes.
template <typename Member, typename Make>
ObjectRow RowOf(const std::string& name, Member member, Make make) {
  return {name,
          [member, make](Options* options) {
            auto object = make();
            options->*member = object;
            using T = std::remove_reference_t<decltype(*object)>;
            if constexpr (requires(T & t) { t.calls; }) return Counted(object);
            return SharedObject{object, nullptr, nullptr};
          },
          [member](const Options& options) -> const void* { return (options.*member).get(); }};
}

const BlockBasedTableOptions& TableOf(const Options& options) {
  return *options.table_factory->GetOptions<BlockBasedTableOptions>();
}

template <typename Give>
ObjectRow RowOfTable(const std::string& name, Give give,
                     std::function<const void*(const BlockBasedTableOptions&)> find) {
  return {name,
          [give](Options* options) {
            BlockBasedTableOptions table;
            SharedObject made = give(&table);
            options->table_factory.reset(NewBlockBasedTableFactory(table));
            return made;
          },
          [find](const Options& options) { return find(TableOf(options)); }};
}

void AddFamilyRows(std::vector<ObjectRow>* rows) {
  rows->push_back({"ColumnFamilyOptions::comparator",
                   [](Options* options) {
                     const auto made = std::make_shared<CountingComparator>();
                     options->comparator = made.get();
                     return Counted(made);
                   },
                   [](const Options& options) -> const void* { return options.comparator; }});
  rows->push_back(
      {"ColumnFamilyOptions::compaction_filter",
       [](Options* options) {
         const auto made = std::make_shared<OwnFilter>();
         options->compaction_filter = &made->filter;
         SharedObject shared = Counted(made);
         shared.object = {made, &made->filter};
         shared.held = nullptr;
         return shared;
       },
       [](const Options& options) -> const void* { return options.compaction_filter; }});
  rows->push_back(RowOf("ColumnFamilyOptions::merge_operator", &Options::merge_operator,
                        [] { return std::make_shared<CountingOperator>(); }));
  rows->push_back(RowOf("ColumnFamilyOptions::compaction_filter_factory",
                        &Options::compaction_filter_factory,
                        [] { return std::make_shared<CountingFilterFactory>(); }));
  rows->push_back(RowOf("ColumnFamilyOptions::sst_partitioner_factory",
                        &Options::sst_partitioner_factory,
                        [] { return NewSstPartitionerFixedPrefixFactory(4); }));
  rows->push_back(RowOf("ColumnFamilyOptions::prefix_extractor", &Options::prefix_extractor, [] {
    return std::shared_ptr<const SliceTransform>(NewFixedPrefixTransform(3));
  }));
  rows->push_back(RowOf("ColumnFamilyOptions::table_factory", &Options::table_factory,
                        [] { return std::shared_ptr<TableFactory>(NewBlockBasedTableFactory()); }));
  rows->push_back(RowOf("AdvancedColumnFamilyOptions::blob_cache", &Options::blob_cache,
                        [] { return NewLRUCache(1 << 20); }));
  rows->push_back(RowOf("AdvancedColumnFamilyOptions::memtable_factory", &Options::memtable_factory,
                        [] { return std::make_shared<SkipListFactory>(); }));
  rows->push_back({"ColumnFamilyOptions::compaction_thread_limiter",
                   [](Options* options) {
                     ConcurrentTaskLimiter* const made = NewConcurrentTaskLimiter("two", 2);
                     options->compaction_thread_limiter.reset(made);
                     return SharedObject{options->compaction_thread_limiter, nullptr, [made] {
                                           return static_cast<uint64_t>(made->GetOutstandingTask());
                                         }};
                   },
                   [](const Options& options) -> const void* {
                     return options.compaction_thread_limiter.get();
                   }});
  rows->push_back({"AdvancedColumnFamilyOptions::table_properties_collector_factories",
                   [](Options* options) {
                     const auto made = std::make_shared<CountingCollectorFactory>();
                     options->table_properties_collector_factories.push_back(made);
                     return Counted(made);
                   },
                   [](const Options& options) -> const void* {
                     return options.table_properties_collector_factories.at(0).get();
                   }});
}

// Reads the members of an SstFileManager that outlive no database.
uint64_t BytesIn(SstFileManager* manager) {
  return manager->GetTotalSize() + manager->GetTotalTrashSize() + manager->GetTrackedFiles().size();
}

void AddDatabaseRows(std::vector<ObjectRow>* rows) {
  rows->push_back(RowOf("DBOptions::info_log", &Options::info_log,
                        [] { return std::make_shared<CountingLogger>(); }));
  rows->push_back(RowOf("DBOptions::file_checksum_gen_factory", &Options::file_checksum_gen_factory,
                        [] { return GetFileChecksumGenCrc32cFactory(); }));
  rows->push_back(
      {"DBOptions::listeners",
       [](Options* options) {
         const auto made = std::make_shared<CountingListener>();
         options->listeners.push_back(made);
         return Counted(made);
       },
       [](const Options& options) -> const void* { return options.listeners.at(0).get(); }});
  rows->push_back(
      {"DBOptions::rate_limiter",
       [](Options* options) {
         RateLimiter* const made = NewGenericRateLimiter(int64_t{1} << 40);
         options->rate_limiter.reset(made);
         return SharedObject{options->rate_limiter,
                             [made] { return static_cast<uint64_t>(made->GetTotalBytesThrough()); },
                             nullptr};
       },
       [](const Options& options) -> const void* { return options.rate_limiter.get(); }});
  rows->push_back(
      {"DBOptions::sst_file_manager",
       [](Options* options) {
         SstFileManager* const made = NewSstFileManager(options->env);
         options->sst_file_manager.reset(made);
         return SharedObject{options->sst_file_manager, [made] { return made->GetTotalSize(); },
                             [made] { return BytesIn(made); }};
       },
       [](const Options& options) -> const void* { return options.sst_file_manager.get(); }});
  rows->push_back({"DBOptions::statistics",
                   [](Options* options) {
                     options->statistics = CreateDBStatistics();
                     Statistics* const made = options->statistics.get();
                     return SharedObject{
                         options->statistics,
                         [made] { return made->getTickerCount(NUMBER_KEYS_WRITTEN); }, nullptr};
                   },
                   [](const Options& options) -> const void* { return options.statistics.get(); }});
  rows->push_back(
      {"DBOptions::write_buffer_manager",
       [](Options* options) {
         const auto cache = NewLRUCache(16 << 20);
         const auto made = std::make_shared<WriteBufferManager>(64 << 20, cache);
         options->write_buffer_manager = made;
         WriteBufferManager* const raw = made.get();
         return SharedObject{made, [raw] { return uint64_t{raw->memory_usage()}; },
                             [raw, cache] {
                               return uint64_t{raw->memory_usage() +
                                               raw->dummy_entries_in_cache_usage() +
                                               cache->GetUsage()};
                             }};
       },
       [](const Options& options) -> const void* { return options.write_buffer_manager.get(); }});
  // The use count of an Env's file system tells whether its objects are alive.
  rows->push_back({"DBOptions::env",
                   [](Options* options) {
                     std::shared_ptr<FileSystem> fs = options->env->GetFileSystem();
                     std::shared_ptr<Env> made = NewCompositeEnv(fs);
                     options->env = made.get();
                     const long users = fs.use_count();
                     return SharedObject{made, nullptr, [fs, users] {
                                           return static_cast<uint64_t>(fs.use_count() - users);
                                         }};
                   },
                   [](const Options& options) -> const void* { return options.env; }});
}

void AddTableRows(std::vector<ObjectRow>* rows) {
  rows->push_back(RowOfTable(
      "BlockBasedTableOptions::block_cache",
      [](BlockBasedTableOptions* table) {
        table->block_cache = NewLRUCache(16 << 20);
        Cache* const made = table->block_cache.get();
        return SharedObject{table->block_cache, [made] { return uint64_t{made->GetUsage()}; },
                            [made] { return uint64_t{made->GetPinnedUsage()}; }};
      },
      [](const BlockBasedTableOptions& table) { return table.block_cache.get(); }));
  rows->push_back(RowOfTable(
      "ShardedCacheOptions::memory_allocator",
      [](BlockBasedTableOptions* table) {
        LRUCacheOptions cache;
        cache.capacity = 16 << 20;
        const auto made = std::make_shared<CountingAllocator>();
        cache.memory_allocator = made;
        table->block_cache = cache.MakeSharedCache();
        return Counted(made);
      },
      [](const BlockBasedTableOptions& table) { return table.block_cache->memory_allocator(); }));
  rows->push_back(RowOfTable(
      "BlockBasedTableOptions::filter_policy",
      [](BlockBasedTableOptions* table) {
        table->filter_policy.reset(NewBloomFilterPolicy(10));
        return SharedObject{table->filter_policy, nullptr, nullptr};
      },
      [](const BlockBasedTableOptions& table) { return table.filter_policy.get(); }));
  rows->push_back(RowOfTable(
      "BlockBasedTableOptions::flush_block_policy_factory",
      [](BlockBasedTableOptions* table) {
        const auto made = std::make_shared<CountingBlockPolicyFactory>();
        table->flush_block_policy_factory = made;
        return Counted(made);
      },
      [](const BlockBasedTableOptions& table) { return table.flush_block_policy_factory.get(); }));
}

}  // namespace

std::vector<ObjectRow> ObjectRows() {
  std::vector<ObjectRow> rows;
  AddFamilyRows(&rows);
  AddDatabaseRows(&rows);
  AddTableRows(&rows);
  return rows;
}

}  // namespace varve::testing
