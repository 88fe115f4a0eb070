// SPDX-License-Identifier: Apache-2.0

// Fuzzes sequences of operations: a database answers each as an ordered map does, in whatever order
// they come, over flushes, compactions and openings.

#include <algorithm>
#include <map>
#include <memory>

#include "varve/db.h"
#include "varve/slice_transform.h"
#include "varve/table.h"
#include "varve/write_batch.h"

#include "tests/fuzz/memory_database.h"
#include "tests/fuzz/target.h"
#include "tests/harness/random.h"
#include "tests/model/reference.h"

namespace varve::fuzz {
namespace {

using testing::AppendOrReplace;
using Map = std::map<std::string, std::string>;
constexpr int kOperationsMost = 120;

class Run {
 public:
  explicit Run(Input* input) : input_(input) {
    const uint32_t bits = input->Byte();
    options_ = MemoryDatabase::SmallOptions((bits & 32) != 0 ? 2 : 16);
    options_.merge_operator = std::make_shared<AppendOrReplace>();
    options_.level_compaction_dynamic_level_bytes = (bits & 1) != 0;
    options_.unordered_write = (bits & 2) != 0;
    options_.enable_pipelined_write = (bits & 6) == 4;
    if ((bits & 8) != 0) options_.prefix_extractor.reset(NewFixedPrefixTransform(1));
    options_.max_subcompactions = (bits & 16) != 0 ? 3 : 1;
    Open();
  }

  void Go() {
    for (int i = 0; i < kOperationsMost && !input_->empty(); i++) Step();
    CheckScan(map_, nullptr);
    if (snapshot_ != nullptr) database_.db()->ReleaseSnapshot(snapshot_);
    database_.Close();
  }

 private:
  void Open() { Must(database_.Open(options_)); }
  static void Must(const Status& s) {
    if (!s.ok()) std::fprintf(stderr, "%s\n", s.ToString().c_str());
    Promise(s.ok(), "an operation succeeds");
  }
  DB* db() { return database_.db(); }

  // Keys are few and short, so that they collide.
  std::string Key() {
    const uint32_t n = input_->Below(24);
    std::string key(1, static_cast<char>('a' + n / 6));
    if (n % 6 > 1) key.append(n % 6, static_cast<char>(n % 2 == 0 ? '\xff' : '\0'));
    return n == 23 ? "" : key;
  }
  std::string Value() { return std::string(input_->Below(40), static_cast<char>(input_->Byte())); }

  void Put() {
    const std::string key = Key();
    map_[key] = Value();
    Must(db()->Put(WriteOptions(), key, map_[key]));
  }
  void Delete() {
    const std::string key = Key();
    map_.erase(key);
    Must(db()->Delete(WriteOptions(), key));
  }
  void DeleteRange() {
    std::string begin = Key();
    std::string end = Key();
    if (begin > end) std::swap(begin, end);
    map_.erase(map_.lower_bound(begin), map_.lower_bound(end));
    Must(db()->DeleteRange(WriteOptions(), db()->DefaultColumnFamily(), begin, end));
  }
  void Merge() {
    const std::string key = Key();
    const std::string operand = Value();
    map_[key] = AppendOrReplace::Apply(map_[key], operand);
    Must(db()->Merge(WriteOptions(), key, operand));
  }
  void Batch() {
    WriteBatch batch;
    for (uint32_t n = input_->Below(6); n > 0; n--) {
      const std::string key = Key();
      if (n % 2 == 0) {
        Must(batch.Delete(key));
        map_.erase(key);
      } else {
        const std::string operand = Value();
        map_[key] = AppendOrReplace::Apply(map_[key], operand);
        Must(batch.Merge(key, operand));
      }
    }
    Must(db()->Write(WriteOptions(), &batch));
  }

  void CheckGet(const Map& map, const Snapshot* snapshot) {
    ReadOptions read;
    read.snapshot = snapshot;
    const std::string key = Key();
    std::string value;
    const Status s = db()->Get(read, key, &value);
    const auto found = map.find(key);
    Promise(found == map.end() ? s.IsNotFound() : s.ok() && value == found->second,
            "Get answers as the map does");
  }

  void CheckScan(const Map& map, const Snapshot* snapshot) {
    ReadOptions read;
    read.snapshot = snapshot;
    read.total_order_seek = true;
    const std::unique_ptr<Iterator> it(db()->NewIterator(read));
    auto at = map.begin();
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++at) {
      Promise(at != map.end() && it->key() == at->first && it->value() == at->second,
              "a scan shows what the map has");
    }
    Promise(it->status().ok() && at == map.end(), "all of it");
    auto back = map.rbegin();
    for (it->SeekToLast(); it->Valid(); it->Prev(), ++back) {
      Promise(back != map.rend() && it->key() == back->first && it->value() == back->second,
              "backwards, too");
    }
    Promise(it->status().ok() && back == map.rend(), "all of it, backwards");
  }

  void CheckBounded() {
    std::string lower = Key();
    std::string upper = Key();
    if (lower > upper) std::swap(lower, upper);
    const Slice low(lower);
    const Slice up(upper);
    ReadOptions read;
    read.total_order_seek = true;
    read.iterate_lower_bound = &low;
    read.iterate_upper_bound = &up;
    const std::unique_ptr<Iterator> it(db()->NewIterator(read));
    const std::string target = std::max(Key(), lower);
    it->Seek(target);
    const auto at = map_.lower_bound(target);
    const bool there = at != map_.end() && at->first < upper;
    Promise(it->Valid() == there && (!there || it->key() == at->first), "Seek stays in bounds");
    it->SeekForPrev(target);
    auto before = target < upper ? map_.upper_bound(target) : map_.lower_bound(upper);
    const bool any = before != map_.begin() && std::prev(before)->first >= lower;
    Promise(it->Valid() == any && (!any || it->key() == std::prev(before)->first),
            "SeekForPrev stays in bounds");
  }

  void CheckMultiGet() {
    std::vector<std::string> keys;
    for (uint32_t n = input_->Below(5); n > 0; n--) keys.push_back(Key());
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<std::string> values;
    const std::vector<Status> statuses = db()->MultiGet(ReadOptions(), slices, &values);
    for (size_t i = 0; i < keys.size(); i++) {
      const auto found = map_.find(keys[i]);
      Promise(found == map_.end() ? statuses[i].IsNotFound() : values[i] == found->second,
              "MultiGet answers as the map does");
    }
  }

  void TurnSnapshot() {
    if (snapshot_ == nullptr) {
      snapshot_ = db()->GetSnapshot();
      seen_ = map_;
      return;
    }
    CheckScan(seen_, snapshot_);
    db()->ReleaseSnapshot(snapshot_);
    snapshot_ = nullptr;
  }

  void Reopen() {
    if (snapshot_ != nullptr) TurnSnapshot();
    database_.Close();
    Open();
  }

  void Step() {
    const uint32_t dice = input_->Byte();
    if (dice < 70) return Put();
    if (dice < 95) return Delete();
    if (dice < 105) return DeleteRange();
    if (dice < 130) return Merge();
    if (dice < 140) return Batch();
    if (dice < 175) return CheckGet(map_, nullptr);
    if (dice < 190) return CheckMultiGet();
    if (dice < 210) return CheckBounded();
    if (dice < 218) return CheckScan(map_, nullptr);
    if (dice < 228) return TurnSnapshot();
    if (dice < 234 && snapshot_ != nullptr) return CheckGet(seen_, snapshot_);
    if (dice < 244) return Must(db()->Flush(FlushOptions()));
    if (dice < 250) return Must(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    if (dice < 253) return Reopen();
  }

  Input* const input_;
  MemoryDatabase database_;
  Options options_;
  Map map_;
  Map seen_;  // at the snapshot
  const Snapshot* snapshot_ = nullptr;
};

void MakeSeeds(Seeds* seeds) {
  for (uint64_t seed = 1; seed <= 12; seed++) {
    testing::Random random(seed);
    std::string bytes;
    for (int i = 0; i < 400; i++) bytes.push_back(static_cast<char>(random.Next()));
    seeds->push_back(bytes);
  }
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  varve::fuzz::Input input(data, size);
  varve::fuzz::Run(&input).Go();
  return 0;
}

static const varve::fuzz::Register registered({"operations", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 12});
