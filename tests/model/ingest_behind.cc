// SPDX-License-Identifier: Apache-2.0
#include "tests/model/ingest_behind.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "varve/sst_file_writer.h"

namespace varve::testing {

namespace {

constexpr uint64_t kMostKeys = 20;

}  // namespace

IngestBehind::IngestBehind(Random* random, Env* env, std::vector<std::string> keys)
    : random_(random), env_(env), keys_(std::move(keys)) {
  EXPECT_TRUE(env_->CreateDirIfMissing("/behind").ok());
}

void IngestBehind::Note(const Change& change, const Comparator* order) {
  std::vector<History>& histories = histories_.at(change.family);
  for (size_t i = 0; i < histories.size(); i++) {
    const std::string& key = keys_[i];
    if (change.kind == Change::kDeleteRange) {
      const bool inside =
          order->Compare(key, change.key) >= 0 && order->Compare(key, change.value) < 0;
      if (inside) histories[i] = History::kPlain;
    } else if (key == change.key) {
      const bool plain = change.kind == Change::kPut || change.kind == Change::kDelete;
      histories[i] = plain ? History::kPlain : History::kOther;
    }
  }
}

void IngestBehind::NoteRemoved(const std::string& family, const std::string& key) {
  std::vector<History>& histories = histories_.at(family);
  for (size_t i = 0; i < histories.size(); i++) {
    if (keys_[i] == key) histories[i] = History::kOther;
  }
}

std::vector<size_t> IngestBehind::DrawKeys(const Modelled& run,
                                           const std::vector<History>& histories) {
  std::vector<size_t> in_order(keys_.size());
  std::iota(in_order.begin(), in_order.end(), size_t{0});
  const Comparator* const order = run.set.family.comparator;
  std::ranges::sort(in_order,
                    [&](size_t a, size_t b) { return order->Compare(keys_[a], keys_[b]) < 0; });
  const auto first = static_cast<ptrdiff_t>(random_->Below(in_order.size()));
  in_order.erase(in_order.begin(), in_order.begin() + first);
  in_order.resize(std::min<size_t>(in_order.size(), 1 + random_->Below(kMostKeys)));
  // A snapshot from before a key's first entry would see the file's value.
  std::erase_if(in_order, [&](size_t i) {
    return histories[i] == History::kOther ||
           (histories[i] == History::kPlain && run.has_snapshots);
  });
  return in_order;
}

IngestBehind::Result IngestBehind::Ingest(const Modelled& run, const DataMoves::Draw& value) {
  auto it = histories_.begin();
  std::advance(it, static_cast<long>(random_->Below(histories_.size())));
  auto& [family, histories] = *it;
  if (histories.empty()) return {};
  const std::vector<size_t> keys = DrawKeys(run, histories);
  if (keys.empty()) return {};
  if (random_->OneIn(2)) {
    // A compaction must not drop tombstones because no table lies beneath them yet.
    const Status s =
        run.db->CompactRange(CompactRangeOptions(), run.handles.at(family), nullptr, nullptr);
    EXPECT_TRUE(s.ok()) << s.ToString();
  }
  const std::string path = "/behind/" + std::to_string(files_++) + ".sst";
  SstFileWriter writer(EnvOptions(), Options(run.set.db, run.set.family), run.handles.at(family));
  EXPECT_TRUE(writer.Open(path).ok());
  Result result;
  result.family = family;
  for (const size_t i : keys) {
    Change change{Change::kPut, family, keys_[i], value()};
    EXPECT_TRUE(writer.Put(change.key, change.value).ok());
    result.keys.push_back(change.key);
    if (histories[i] == History::kUntouched) result.shown.push_back(std::move(change));
  }
  EXPECT_TRUE(writer.Finish().ok());
  IngestExternalFileOptions options;
  options.ingest_behind = true;
  options.move_files = random_->OneIn(2);
  const Status s = run.db->IngestExternalFile(run.handles.at(family), {path}, options);
  if (!s.ok() || !options.move_files) {
    EXPECT_TRUE(env_->DeleteFile(path).ok());
  }
  if (s.ok()) {
    files_in_[family]++;
    for (const size_t i : keys) histories[i] = History::kPlain;
    return result;
  }
  // An earlier file has the range.
  EXPECT_TRUE(s.IsInvalidArgument() && files_in_[family] > 0) << s.ToString();
  return {};
}

}  // namespace varve::testing
