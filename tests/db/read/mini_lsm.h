// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides a column family without a database: a history of writes, spread by age over memtables
// and tables, and a model that replays the same history.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "varve/cache.h"
#include "varve/filter_policy.h"
#include "varve/table.h"

#include "db/column_family/super_version.h"
#include "db/column_family/super_version_source.h"
#include "db/version/file_bounds.h"
#include "table/table_builder.h"
#include "util/env/file_names.h"
#include "util/env/mem_file_system.h"
#include "util/env/writable_file_writer.h"

namespace varve::test {

struct Write {
  SequenceNumber seq;
  ValueType type;
  std::string key;    // or begin
  std::string value;  // or end
};

struct UserKeyLess {
  const Comparator* comparator;
  bool operator()(const std::string& a, const std::string& b) const {
    return comparator->Compare(a, b) < 0;
  }
};
using UserModel = std::map<std::string, std::string, UserKeyLess>;

// Returns the entries that a reader at `seq` has to see.
inline UserModel Replay(const std::vector<Write>& history, SequenceNumber seq,
                        const Comparator* comparator) {
  UserModel model(UserKeyLess{comparator});
  for (const Write& write : history) {
    if (write.seq > seq) break;
    switch (write.type) {
      case kTypeValue:
        model[write.key] = write.value;
        break;
      case kTypeRangeDeletion:
        if (comparator->Compare(write.key, write.value) < 0) {
          model.erase(model.lower_bound(write.key), model.lower_bound(write.value));
        }
        break;
      default:
        model.erase(write.key);
        break;
    }
  }
  return model;
}

// Describes how a history is laid out.
struct Layout {
  size_t immutables = 1;
  size_t level_zero_files = 2;
  size_t deeper_levels = 2;
  size_t files_per_level = 4;
  bool limited_open_files = false;
  // Deeper files' tombstones reach, in the file, beyond the bounds in the metadata.
  bool overhang = false;
  // Files of a level may end between two versions of a key, as in other engines' databases.
  bool split_keys = false;
  // The active memtable is left empty.
  bool flushed = false;
  // Positions where the history is cut, oldest first: one less than there are parts. Empty:
  // anywhere.
  std::vector<size_t> cuts = {};
};

class MiniLsm final : public SuperVersionSource {
 public:
  explicit MiniLsm(const Comparator* comparator = BytewiseComparator())
      : icmp_(comparator), cf_options_(std::make_shared<ColumnFamilyOptions>()) {
    cf_options_->comparator = comparator;
    table_options_.block_size = 100;
    table_options_.block_cache = NewLRUCache(1 << 20);
    table_options_.filter_policy.reset(NewBloomFilterPolicy(10));
    fs_ = std::make_shared<MemFileSystem>();
    EXPECT_TRUE(fs_->CreateDir("/db", IOOptions(), nullptr).ok());
  }
  ~MiniLsm() override {
    if (current_ != nullptr) current_->Unref();
  }

  ColumnFamilyOptions& cf_options() { return *cf_options_; }
  BlockBasedTableOptions& table_options() { return table_options_; }
  const InternalKeyComparator& icmp() const { return icmp_; }

  // Makes the sources out of `history`, whose sequence numbers ascend.
  void Load(const std::vector<Write>& history, const Layout& layout, std::mt19937* random) {
    cf_options_->table_factory.reset(NewBlockBasedTableFactory(table_options_));
    TableCacheOptions cache_options;
    cache_options.paths = std::make_shared<const TablePaths>("/db");
    cache_options.fs = read_through != nullptr ? read_through : fs_;
    cache_options.icmp = &icmp_;
    cache_options.clock = clock;
    cache_options.statistics = statistics;
    cache_options.cf_options = cf_options_;
    if (layout.limited_open_files) cache_options.limited = TableCache::NewLimitedCache(2);
    table_cache_ = std::make_shared<TableCache>(cache_options);
    const size_t parts = 1 + layout.immutables + layout.level_zero_files + layout.deeper_levels;
    // Oldest first, with random sizes.
    std::vector<size_t> cuts = {0, history.size()};
    for (size_t i = 1; i < parts; i++) cuts.push_back((*random)() % (history.size() + 1));
    for (size_t i = 0; i < layout.cuts.size(); i++) cuts[2 + i] = layout.cuts[i];
    std::sort(cuts.begin(), cuts.end());
    if (layout.flushed) cuts[parts - 1] = history.size();
    std::vector<std::vector<FileRef>> levels(1 + layout.deeper_levels);
    std::vector<std::shared_ptr<MemTable>> memtables;
    for (size_t part = 0; part < parts; part++) {
      const std::vector<Write> writes(history.begin() + static_cast<ptrdiff_t>(cuts[part]),
                                      history.begin() + static_cast<ptrdiff_t>(cuts[part + 1]));
      if (part < layout.deeper_levels) {
        const size_t level = layout.deeper_levels - part;
        levels[level] = MakeLevel(writes, layout, random);
      } else if (part < layout.deeper_levels + layout.level_zero_files) {
        Layout one_file = layout;
        one_file.files_per_level = 1;
        for (FileRef& file : MakeLevel(writes, one_file, random)) {
          file->epoch_number = part;
          levels[0].push_back(std::move(file));
        }
      } else {
        memtables.push_back(MakeMemTable(writes));
      }
    }
    mem_ = memtables.back();
    memtables.pop_back();
    std::reverse(memtables.begin(), memtables.end());
    visible_ = history.empty() ? 0 : history.back().seq;
    Install(std::move(memtables), std::make_shared<const Version>(&icmp_, 1, std::move(levels)));
  }

  // Adds an entry as a write to the active memtable would.
  void Add(const Write& write) {
    ASSERT_TRUE(mem_->Add(write.seq, write.type, write.key, write.value).ok());
    visible_ = write.seq;
  }

  // Makes the active memtable immutable and starts another.
  void SwitchMemTable() {
    std::vector<std::shared_ptr<MemTable>> immutables = current_->immutables();
    immutables.insert(immutables.begin(), mem_);
    mem_ = MakeMemTable({});
    Install(std::move(immutables), current_->shared_version());
  }

  SuperVersion* AcquireSuperVersion() override {
    current_->Ref();
    return current_;
  }
  SequenceNumber VisibleSequence() override {
    if (before_visible != nullptr) std::exchange(before_visible, nullptr)();
    return visible_;
  }
  uint64_t SuperVersionNumber() const override { return current_->number(); }
  const SuperVersion& current() const { return *current_; }
  const std::shared_ptr<MemFileSystem>& fs() { return fs_; }

  // Runs before the visible sequence number is read next.
  std::function<void()> before_visible;

  // Set before Load: what tables are read through, if not the file system itself, and what looks
  // on.
  std::shared_ptr<FileSystem> read_through;
  SystemClock* clock = nullptr;
  Statistics* statistics = nullptr;

 private:
  // A file that is being planned.
  struct FilePlan {
    std::vector<Write> points;      // in internal-key order
    std::vector<Write> tombstones;  // tombstones in the order of writing
    std::string lower;              // bound of tombstones; empty: none
    std::optional<std::string> upper;
    bool bounded_below = false;
    bool starts_inside_key = false;  // its first entries are older versions of the last file's key
    bool ends_inside_key = false;
  };

  bool Less(const std::string& a, const std::string& b) const {
    return icmp_.CompareUserKey(a, b) < 0;
  }

  std::shared_ptr<MemTable> MakeMemTable(const std::vector<Write>& writes) {
    auto mem = std::make_shared<MemTable>(icmp_, MemTableOptions(), next_memtable_++);
    for (const Write& write : writes) {
      EXPECT_TRUE(mem->Add(write.seq, write.type, write.key, write.value).ok());
    }
    return mem;
  }

  void Install(std::vector<std::shared_ptr<MemTable>> immutables, VersionRef version) {
    SuperVersion* const old = current_;
    // Counts its holders and frees itself.
    current_ = new SuperVersion(next_number_++, mem_, std::move(immutables), std::move(version),
                                cf_options_, table_cache_);
    if (old != nullptr) old->Unref();
  }

  std::vector<FileRef> MakeLevel(const std::vector<Write>& writes, const Layout& layout,
                                 std::mt19937* random) {
    std::vector<Write> points;
    std::vector<Write> tombstones;
    for (const Write& write : writes) {
      if (write.type != kTypeRangeDeletion) {
        points.push_back(write);
      } else if (Less(write.key, write.value)) {
        tombstones.push_back(write);
      }
    }
    std::sort(points.begin(), points.end(), [this](const Write& a, const Write& b) {
      const int order = icmp_.CompareUserKey(a.key, b.key);
      return order != 0 ? order < 0 : a.seq > b.seq;
    });
    std::vector<std::string> boundaries;
    for (size_t i = 1; i < layout.files_per_level && !writes.empty(); i++) {
      boundaries.push_back(writes[(*random)() % writes.size()].key);
    }
    std::sort(boundaries.begin(), boundaries.end(),
              [this](const std::string& a, const std::string& b) { return Less(a, b); });
    boundaries.erase(std::unique(boundaries.begin(), boundaries.end()), boundaries.end());
    std::vector<FileRef> files;
    for (const FilePlan& plan : PlanFiles(points, tombstones, boundaries, layout, random)) {
      FileRef file = MakeFile(plan, layout);
      if (file != nullptr) files.push_back(std::move(file));
    }
    return files;
  }

  std::vector<FilePlan> PlanFiles(const std::vector<Write>& points,
                                  const std::vector<Write>& tombstones,
                                  const std::vector<std::string>& boundaries, const Layout& layout,
                                  std::mt19937* random) {
    std::vector<FilePlan> plans(boundaries.size() + 1);
    size_t point = 0;
    for (size_t i = 0; i < plans.size(); i++) {
      FilePlan& plan = plans[i];
      if (i > 0) {
        plan.lower = boundaries[i - 1];
        plan.bounded_below = true;
        plan.starts_inside_key = plans[i - 1].ends_inside_key;
      }
      if (i < boundaries.size()) plan.upper = boundaries[i];
      while (point < points.size() && (!plan.upper || Less(points[point].key, *plan.upper))) {
        plan.points.push_back(points[point++]);
      }
      // Newer versions of the boundary key may stay behind.
      while (layout.split_keys && point + 1 < points.size() && plan.upper &&
             points[point].key == *plan.upper && points[point + 1].key == *plan.upper &&
             (*random)() % 2 == 0) {
        plan.points.push_back(points[point++]);
        plan.ends_inside_key = true;
      }
      for (const Write& tombstone : tombstones) {
        const bool begins_here = !plan.upper || Less(tombstone.key, *plan.upper) ||
                                 (plan.ends_inside_key && tombstone.key == *plan.upper);
        if (begins_here && (!plan.bounded_below || Less(plan.lower, tombstone.value))) {
          plan.tombstones.push_back(tombstone);
        }
      }
    }
    return plans;
  }

  // Sets the bounds that the metadata states, and cuts the tombstones to them.
  void SetBounds(const FilePlan& plan, std::vector<RangeTombstone>* cut, FileMetaData* file) {
    const auto include = [&](const InternalKey& smallest, const InternalKey& largest) {
      if (file->smallest.empty() || icmp_.Compare(smallest.Encode(), file->smallest.Encode()) < 0) {
        file->smallest = smallest;
      }
      if (file->largest.empty() || icmp_.Compare(largest.Encode(), file->largest.Encode()) > 0) {
        file->largest = largest;
      }
    };
    for (const Write& write : plan.points) {
      const InternalKey key(write.key, write.seq, write.type);
      include(key, key);
    }
    for (const Write& tombstone : plan.tombstones) {
      RangeTombstone part{tombstone.key, tombstone.value, tombstone.seq};
      if (plan.bounded_below && Less(part.start, plan.lower)) part.start = plan.lower;
      if (plan.upper && !plan.ends_inside_key && Less(*plan.upper, part.end)) {
        part.end = *plan.upper;
      }
      InternalKey smallest(part.start, part.seq, kTypeRangeDeletion);
      InternalKey largest(part.end, kMaxSequenceNumber, kTypeRangeDeletion);
      if (plan.starts_inside_key && part.start == plan.lower) smallest = file->smallest;
      if (plan.ends_inside_key && Less(*plan.upper, part.end)) largest = file->largest;
      include(smallest, largest);
      cut->push_back(std::move(part));
    }
  }

  FileRef MakeFile(const FilePlan& plan, const Layout& layout) {
    if (plan.points.empty() && plan.tombstones.empty()) return nullptr;
    auto file = std::make_shared<FileMetaData>();
    std::vector<RangeTombstone> tombstones;
    SetBounds(plan, &tombstones, file.get());
    if (layout.overhang) StretchTombstones(*file, &tombstones);
    file->number = next_file_++;
    for (const Write& write : plan.points) NoteSequence(write.seq, file.get());
    for (const Write& write : plan.tombstones) NoteSequence(write.seq, file.get());
    WriteTable(plan.points, tombstones, file.get());
    return file;
  }

  static void NoteSequence(SequenceNumber seq, FileMetaData* file) {
    if (file->largest_seq == 0) file->smallest_seq = seq;
    file->smallest_seq = std::min(file->smallest_seq, seq);
    file->largest_seq = std::max(file->largest_seq, seq);
  }

  // Lengthens tombstones that make a bound to far beyond it, where they must have no effect.
  void StretchTombstones(const FileMetaData& file, std::vector<RangeTombstone>* tombstones) const {
    if (icmp_.order() != KeyOrder::kBytewise) return;
    for (RangeTombstone& tombstone : *tombstones) {
      const bool at_start = tombstone.start == file.smallest.user_key().ToString();
      const bool at_end =
          LargestIsExclusive(file) && tombstone.end == file.largest.user_key().ToString();
      if (at_start) tombstone.start.clear();
      if (at_end) tombstone.end = std::string(20, '\xff');
    }
  }

  void WriteTable(const std::vector<Write>& points, const std::vector<RangeTombstone>& tombstones,
                  FileMetaData* file) {
    const std::string path = TableFileName("/db", file->number);
    std::unique_ptr<FSWritableFile> handle;
    ASSERT_TRUE(fs_->NewWritableFile(path, FileOptions(), &handle, nullptr).ok());
    auto writer = std::make_unique<WritableFileWriter>(std::move(handle), path,
                                                       WritableFileWriter::Options());
    TableBuildOptions options;
    options.icmp = &icmp_;
    options.factory.reset(NewBlockBasedTableFactory(table_options_));
    options.prefix_extractor = cf_options_->prefix_extractor.get();
    std::unique_ptr<TableBuilder> builder;
    ASSERT_TRUE(TableBuilder::Create(options, writer.get(), &builder).ok());
    for (const Write& write : points) {
      builder->Add(InternalKey(write.key, write.seq, write.type).Encode(), write.value);
    }
    const auto fragments = FragmentedTombstones::Build(tombstones, icmp_);
    for (const FragmentedTombstones::Tombstone& t : fragments->InKeyOrder()) {
      builder->AddTombstone(InternalKey(t.start, t.seq, kTypeRangeDeletion).Encode(), t.end);
    }
    ASSERT_TRUE(builder->Finish().ok()) << builder->status().ToString();
    file->size = builder->FileSize();
    ASSERT_TRUE(writer->Close().ok());
  }

  const InternalKeyComparator icmp_;
  std::shared_ptr<MemFileSystem> fs_;
  std::shared_ptr<ColumnFamilyOptions> cf_options_;
  BlockBasedTableOptions table_options_;
  std::shared_ptr<TableCache> table_cache_;
  std::shared_ptr<MemTable> mem_;
  SuperVersion* current_ = nullptr;  // one reference
  SequenceNumber visible_ = 0;
  uint64_t next_number_ = 1;
  uint64_t next_file_ = 7;
  uint64_t next_memtable_ = 1;
};

}  // namespace varve::test
