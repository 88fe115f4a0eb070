// SPDX-License-Identifier: Apache-2.0

// Goal: options that exclude each other are refused wherever they could meet: at Open, in
// CreateColumnFamily, SetOptions and SetDBOptions, by a message that names both. Method: the
// library's own table of pairs, and here a way to meet each of them.

#include "util/options/exclusive_options.h"

#include <gmock/gmock.h>

#include <functional>

#include "varve/compaction_filter.h"
#include "varve/comparator.h"
#include "varve/filter_policy.h"
#include "varve/slice_transform.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

class NoFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "NoFilter"; }
};
class NoFilters final : public CompactionFilterFactory {
 public:
  const char* Name() const override { return "NoFilters"; }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context&) override {
    return nullptr;
  }
};

struct Meeting {
  const char* option;
  const char* with;
  std::function<void(Options*)> spoil;
};

template <typename F>
auto WithTable(F change) {
  return [change](Options* o) {
    BlockBasedTableOptions table;
    change(&table);
    o->compression = kNoCompression;
    o->table_factory.reset(NewBlockBasedTableFactory(table));
  };
}

const NoFilter kFilter;

// Returns the rows in the order of the table.
std::vector<Meeting> Meetings() {
  using Table = BlockBasedTableOptions;
  const auto forget_timestamps = [](Options* o) {
    o->comparator = BytewiseComparatorWithU64Ts();
    o->persist_user_defined_timestamps = false;
    o->allow_concurrent_memtable_write = false;
  };
  return {
      {"use_direct_reads", "allow_mmap_reads",
       [](Options* o) { o->use_direct_reads = o->allow_mmap_reads = true; }},
      {"use_direct_io_for_flush_and_compaction", "writable_file_max_buffer_size",
       [](Options* o) {
         o->use_direct_io_for_flush_and_compaction = true;
         o->writable_file_max_buffer_size = 0;
       }},
      {"write_identity_file", "write_dbid_to_manifest",
       [](Options* o) { o->write_identity_file = o->write_dbid_to_manifest = false; }},
      {"unordered_write", "allow_concurrent_memtable_write",
       [](Options* o) {
         o->unordered_write = true;
         o->allow_concurrent_memtable_write = false;
       }},
      {"unordered_write", "enable_pipelined_write",
       [](Options* o) { o->unordered_write = o->enable_pipelined_write = true; }},
      {"atomic_flush", "enable_pipelined_write",
       [](Options* o) { o->atomic_flush = o->enable_pipelined_write = true; }},
      {"two_write_queues", "enable_pipelined_write",
       [](Options* o) { o->two_write_queues = o->enable_pipelined_write = true; }},
      {"max_successive_merges", "unordered_write",
       [](Options* o) {
         o->max_successive_merges = 2;
         o->unordered_write = true;
       }},
      {"persist_user_defined_timestamps", "atomic_flush",
       [=](Options* o) {
         forget_timestamps(o);
         o->atomic_flush = true;
       }},
      {"persist_user_defined_timestamps", "allow_concurrent_memtable_write",
       [=](Options* o) {
         forget_timestamps(o);
         o->allow_concurrent_memtable_write = true;
       }},
      {"compaction_filter", "compaction_filter_factory",
       [](Options* o) {
         o->compaction_filter = &kFilter;
         o->compaction_filter_factory = std::make_shared<NoFilters>();
       }},
      {"cf_allow_ingest_behind", "num_levels",
       [](Options* o) {
         o->cf_allow_ingest_behind = true;
         o->num_levels = 2;
       }},
      {"cf_allow_ingest_behind", "compaction_style",
       [](Options* o) {
         o->cf_allow_ingest_behind = true;
         o->compaction_style = kCompactionStyleFIFO;
       }},
      {"zstd_max_train_bytes", "max_dict_bytes",
       [](Options* o) { o->compression_opts.zstd_max_train_bytes = 1 << 20; }},
      {"max_table_files_size", "max_data_files_size",
       [](Options* o) {
         o->compaction_style = kCompactionStyleFIFO;
         o->compaction_options_fifo.max_table_files_size = 0;
       }},
      {"file_temperature_age_thresholds", "age",
       [](Options* o) {
         o->compaction_style = kCompactionStyleFIFO;
         o->num_levels = 1;
         o->compaction_options_fifo.file_temperature_age_thresholds = {{Temperature::kWarm, 2},
                                                                       {Temperature::kCold, 2}};
       }},
      {"file_temperature_age_thresholds", "num_levels",
       [](Options* o) {
         o->compaction_style = kCompactionStyleFIFO;
         o->compaction_options_fifo.file_temperature_age_thresholds = {{Temperature::kCold, 1}};
       }},
      {"max_read_amp", "level0_file_num_compaction_trigger",
       [](Options* o) {
         o->compaction_style = kCompactionStyleUniversal;
         o->compaction_options_universal.max_read_amp = 3;
       }},
      {"block_cache", "no_block_cache", WithTable([](Table* t) {
         t->no_block_cache = true;
         t->block_cache = NewLRUCache(1 << 20);
       })},
      {"cache_index_and_filter_blocks", "no_block_cache",
       WithTable([](Table* t) { t->no_block_cache = t->cache_index_and_filter_blocks = true; })},
      {"pin_l0_filter_and_index_blocks_in_cache", "no_block_cache", WithTable([](Table* t) {
         t->no_block_cache = t->pin_l0_filter_and_index_blocks_in_cache = true;
       })},
      {"block_align", "compression",
       [](Options* o) {
         WithTable([](Table* t) { t->block_align = true; })(o);
         o->compression = kSnappyCompression;
       }},
      {"block_align", "block_size", WithTable([](Table* t) {
         t->block_align = true;
         t->block_size = 5000;
       })},
      {"index_type", "prefix_extractor",
       WithTable([](Table* t) { t->index_type = Table::kHashSearch; })},
      {"data_block_index_type", "data_block_hash_table_util_ratio", WithTable([](Table* t) {
         t->data_block_index_type = Table::kDataBlockBinaryAndHash;
         t->data_block_hash_table_util_ratio = 0;
       })},
  };
}

class ExclusiveOptionsTest : public Database {
 protected:
  static void Refused(const Status& s, const ExclusiveOptions& pair, const Meeting& meeting) {
    EXPECT_EQ(s.code(), pair.code) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr(meeting.option));
    EXPECT_THAT(s.ToString(), HasSubstr(meeting.with));
  }
};

TEST_F(ExclusiveOptionsTest, EachPairIsRefusedWhereItCouldMeet) {
  const Options plain = options_;
  const std::vector<Meeting> meetings = Meetings();
  const auto pairs = AllExclusiveOptions();
  ASSERT_EQ(meetings.size(), pairs.size()) << "each pair of the table has a way to meet it here";
  for (size_t i = 0; i < pairs.size(); i++) {
    SCOPED_TRACE(std::string(meetings[i].option) + " with " + meetings[i].with);
    EXPECT_THAT(pairs[i].option, HasSubstr(meetings[i].option));
    EXPECT_THAT(pairs[i].with, HasSubstr(meetings[i].with));
    options_ = plain;
    meetings[i].spoil(&options_);
    Refused(TryOpen(), pairs[i], meetings[i]);
  }
  EXPECT_TRUE(mem().FileExists(kName, IOOptions(), nullptr).IsNotFound()) << "nothing was made";

  for (size_t i = 0; i < pairs.size(); i++) {
    if (pairs[i].of == ExclusiveOptions::Of::kDatabase) continue;
    SCOPED_TRACE(std::string(meetings[i].option) + " with " + meetings[i].with);
    Options spoilt = plain;
    meetings[i].spoil(&spoilt);
    options_ = plain;
    options_.unordered_write = spoilt.unordered_write;
    options_.atomic_flush = spoilt.atomic_flush;
    options_.allow_concurrent_memtable_write = spoilt.allow_concurrent_memtable_write;
    Open();
    ColumnFamilyHandle* handle = nullptr;
    Refused(db()->CreateColumnFamily(spoilt, "f", &handle), pairs[i], meetings[i]);
    EXPECT_EQ(handle, nullptr);
    ASSERT_TRUE(Close().ok());
  }
}

// Every other pair is named by what is set; this one is about two options that are not.
TEST_F(ExclusiveOptionsTest, TheIdentityThatIsNowhereIsSaidToBeInNeitherPlace) {
  options_.write_identity_file = options_.write_dbid_to_manifest = false;
  const Status s = CheckExclusiveOptions(ExclusiveOptions::Of::kDatabase, &options_, nullptr);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("DBOptions::write_identity_file: false, and so is "
                                      "DBOptions::write_dbid_to_manifest"));
  for (bool* const other : {&options_.write_identity_file, &options_.write_dbid_to_manifest}) {
    *other = true;
    EXPECT_TRUE(CheckExclusiveOptions(ExclusiveOptions::Of::kDatabase, &options_, nullptr).ok());
    *other = false;
  }
}

TEST_F(ExclusiveOptionsTest, AndWhereTheyAreChanged) {
  BlockBasedTableOptions table;
  table.block_align = true;
  options_.compression = kNoCompression;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  options_.unordered_write = true;
  options_.use_direct_io_for_flush_and_compaction = true;
  Open();
  const auto refused = [](const Status& s, const char* option, const char* with) {
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr(option));
    EXPECT_THAT(s.ToString(), HasSubstr(with));
  };
  refused(db()->SetOptions({{"max_successive_merges", "3"}}), "max_successive_merges",
          "unordered_write");
  refused(db()->SetOptions({{"compression", "kSnappyCompression"}}), "block_align", "compression");
  refused(db()->SetOptions({{"compression_opts", "{zstd_max_train_bytes=1000}"}}),
          "zstd_max_train_bytes", "max_dict_bytes");
  refused(db()->SetDBOptions({{"writable_file_max_buffer_size", "0"}}),
          "use_direct_io_for_flush_and_compaction", "writable_file_max_buffer_size");
  EXPECT_EQ(db()->GetOptions().max_successive_merges, 0u) << "nothing has changed";
  EXPECT_EQ(db()->GetOptions().compression, kNoCompression);
  EXPECT_GT(db()->GetDBOptions().writable_file_max_buffer_size, 0u);
}

}  // namespace
}  // namespace varve::testing
