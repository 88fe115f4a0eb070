// SPDX-License-Identifier: Apache-2.0

// Goal: after any mix of writes, ingestions, flushes, compactions, snapshots and openings a
// database has the contents of a plain map after the same. Method: random histories from seeds;
// files of points, merges and range deletions, which overlap each other, memtables and tables;
// compactions go on beside.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "varve/external_file.h"
#include "varve/merge_operator.h"

#include "tests/db/ingest/ingest_fixture.h"
#include "tests/harness/environment.h"
#include "tests/harness/random.h"

namespace varve::testing {
namespace {

class Append final : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "Append"; }
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             Logger*) const override {
    result->clear();
    if (existing != nullptr) *result = existing->ToString() + ",";
    result->append(value.data(), value.size());
    return true;
  }
};

using Contents = std::map<std::string, std::string>;

class IngestModelTest : public IngestTest {
 protected:
  static constexpr const char* kFamilies[] = {"default", "other"};

  void Run(uint64_t seed) {
    random_ = std::make_unique<Random>(seed);
    options_.merge_operator = std::make_shared<Append>();
    options_.write_buffer_size = size_t{16} << 10;
    options_.disable_auto_compactions = random_->OneIn(3);
    options_.level0_file_num_compaction_trigger = 2;
    options_.target_file_size_base = 2000;
    options_.max_bytes_for_level_base = 8000;
    options_.num_levels = random_->OneIn(4) ? 2 : 7;
    options_.level_compaction_dynamic_level_bytes = random_->OneIn(2);
    options_.atomic_flush = random_->OneIn(4);
    options_.unordered_write = random_->OneIn(4);
    if (random_->OneIn(4)) options_.max_open_files = 8;
    Open({"default", "other"});
    for (int step = 0; step < 150 && !HasFailure(); step++) Step();
    CheckAll();
    ReleaseSnapshots();
    Reopen();
    CheckAll();
    ASSERT_TRUE(Close().ok());
    contents_.clear();
    Remount(std::make_shared<MemFileSystem>());
    ASSERT_TRUE(file_system()->CreateDirIfMissing(kOutside, IOOptions(), nullptr).ok());
  }

 private:
  struct Held {
    const Snapshot* snapshot;
    std::map<std::string, Contents> contents;
  };

  std::string Key() { return "k" + std::to_string(100 + random_->Below(60)); }
  std::string Value() { return std::to_string(++values_); }
  std::string Family() { return kFamilies[random_->Below(2)]; }

  static void MergeInto(Contents* contents, const std::string& key, const std::string& operand) {
    std::string& value = (*contents)[key];
    value += (value.empty() ? "" : ",") + operand;
  }
  static void EraseRange(Contents* contents, const std::string& begin, const std::string& end) {
    contents->erase(contents->lower_bound(begin), contents->lower_bound(end));
  }

  void Step() {
    switch (random_->Below(14)) {
      case 0:
      case 1:
      case 2:
        return WriteOne();
      case 3:
        return DeleteSome();
      case 4:
      case 5:
      case 6:
      case 7:
        return IngestSome();
      case 8:
        return Flush(Family());
      case 9:
        if (random_->OneIn(3)) {
          ASSERT_TRUE(
              db()->CompactRange(CompactRangeOptions(), Handle(Family()), nullptr, nullptr).ok());
        }
        return;
      case 10:
        if (held_.size() < 3) held_.push_back({db()->GetSnapshot(), contents_});
        return;
      case 11:
        if (held_.empty()) return;
        db()->ReleaseSnapshot(held_.front().snapshot);
        held_.erase(held_.begin());
        return;
      case 12:
        if (!random_->OneIn(5)) return;
        ReleaseSnapshots();
        return Reopen();
      default:
        return CheckAll();
    }
  }

  void WriteOne() {
    const std::string family = Family();
    const std::string key = Key();
    const std::string value = Value();
    if (random_->OneIn(3)) {
      ASSERT_TRUE(db()->Merge(WriteOptions(), Handle(family), key, value).ok());
      MergeInto(&contents_[family], key, value);
    } else {
      Put(key, value, family);
      contents_[family][key] = value;
    }
  }
  void DeleteSome() {
    const std::string family = Family();
    std::string begin = Key();
    std::string end = Key();
    if (random_->OneIn(2)) {
      Delete(begin, family);
      contents_[family].erase(begin);
      return;
    }
    if (begin > end) std::swap(begin, end);
    ASSERT_TRUE(db()->DeleteRange(WriteOptions(), Handle(family), begin, end).ok());
    EraseRange(&contents_[family], begin, end);
  }

  ExternalFile RandomFile(Contents* contents) {
    ExternalFile file;
    if (random_->OneIn(3)) {
      std::string begin = Key();
      std::string end = Key();
      if (begin > end) std::swap(begin, end);
      if (begin != end) {
        file.DeleteRange(begin, end);
        EraseRange(contents, begin, end);
      }
    }
    const uint64_t first = 100 + random_->Below(60);
    const uint64_t entries = random_->Below(6) + (file.tombstones.empty() ? 1 : 0);
    for (uint64_t i = 0; i < entries; i++) {
      const std::string key = "k" + std::to_string(first + i * (1 + random_->Below(3)));
      if (file.entries.contains(key)) continue;
      const std::string value = Value();
      switch (random_->Below(4)) {
        case 0:
          file.Delete(key);
          contents->erase(key);
          break;
        case 1:
          file.Merge(key, value);
          MergeInto(contents, key, value);
          break;
        default:
          file.Put(key, value);
          (*contents)[key] = value;
      }
    }
    return file;
  }

  void IngestSome() {
    std::vector<IngestExternalFileArg> args;
    const uint64_t which = 1 + random_->Below(3);  // bits
    for (uint64_t i = 0; i < 2; i++) {
      if ((which >> i & 1) == 0) continue;
      const char* const family = kFamilies[i];
      IngestExternalFileArg arg;
      arg.column_family = Handle(family);
      for (uint64_t n = 1 + random_->Below(3); n > 0; n--)
        arg.external_files.push_back(Make(RandomFile(&contents_[family])));
      arg.options.move_files = random_->OneIn(3);
      arg.options.write_global_seqno = random_->OneIn(4);
      arg.options.verify_checksums_before_ingest = random_->OneIn(3);
      arg.options.file_opening_threads = random_->OneIn(5) ? 3 : 1;
      args.push_back(arg);
    }
    if (random_->OneIn(2)) {
      ASSERT_EQ(db()->IngestExternalFiles(args).ToString(), "OK");
      return;
    }
    std::vector<std::unique_ptr<FileIngestionHandle>> owners;
    std::vector<FileIngestionHandle*> handles;
    for (const IngestExternalFileArg& arg : args) {
      owners.emplace_back();
      ASSERT_EQ(db()->PrepareFileIngestion({arg}, &owners.back()).ToString(), "OK");
      handles.push_back(owners.back().get());
    }
    ASSERT_EQ(db()->CommitFileIngestionHandles(handles).ToString(), "OK");
  }

  void ReleaseSnapshots() {
    for (const Held& held : held_) db()->ReleaseSnapshot(held.snapshot);
    held_.clear();
  }

  void Check(const std::string& family, const Snapshot* snapshot, const Contents& expected) {
    ReadOptions options;
    options.snapshot = snapshot;
    std::string text;
    for (const auto& [key, value] : expected) text += (text.empty() ? "" : " ") + key + "=" + value;
    ASSERT_EQ(Scan(options, family), text) << Text("rocksdb.sstables", family);
    for (int i = 0; i < 5; i++) {
      const std::string key = Key();
      const auto it = expected.find(key);
      ASSERT_EQ(Get(key, family, snapshot), it == expected.end() ? "NOT_FOUND" : it->second) << key;
    }
  }
  void CheckAll() {
    for (const char* family : kFamilies) {
      Check(family, nullptr, contents_[family]);
      for (Held& held : held_) Check(family, held.snapshot, held.contents[family]);
    }
  }

  std::unique_ptr<Random> random_;
  uint64_t values_ = 0;
  std::map<std::string, Contents> contents_;
  std::vector<Held> held_;
};

TEST_F(IngestModelTest, HoldsWhatAMapHolds) {
  const uint64_t seeds = NumberFromEnvironment("VARVE_MODEL_SEEDS", 25);
  const uint64_t first = NumberFromEnvironment("VARVE_MODEL_FIRST", 1) + Rotation() * seeds;
  const Options defaults = options_;
  for (uint64_t seed = first; seed < first + seeds; seed++) {
    SCOPED_TRACE("VARVE_MODEL_FIRST=" + std::to_string(seed));
    Env* const env = options_.env;  // environment of the mounted files
    options_ = defaults;
    options_.env = env;
    ASSERT_NO_FATAL_FAILURE(Run(seed));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace varve::testing
