// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/store.h"

#include <chrono>
#include <thread>

#include "varve/comparator.h"

namespace varve::testing {

Store::Store(const WriteMode& mode, std::unique_ptr<DB> db,
             std::vector<ColumnFamilyHandle*> handles, Findings* findings)
    : mode_(mode), db_(std::move(db)), handles_(std::move(handles)), findings_(findings) {}

Store::~Store() {
  for (ColumnFamilyHandle* handle : handles_) {
    findings_->Expect(db_->DestroyColumnFamilyHandle(handle), "DestroyColumnFamilyHandle");
  }
  findings_->Expect(db_->Close(), "Close");
}

void Store::Write(WriteBatch* batch, Random* random) {
  const WriteOptions options = mode_.DrawWriteOptions(random);
  Status s = db_->Write(options, batch);
  while (s.IsIncomplete() && options.no_slowdown) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    s = db_->Write(options, batch);
  }
  findings_->Expect(s, "Write");
}

Content Store::Get(const Cell& cell, const Snapshot* snapshot) {
  ReadOptions options;
  options.snapshot = snapshot;
  std::string value;
  const Status s = db_->Get(options, handles_[cell.family], cell.key, &value);
  if (s.ok()) return value;
  if (!s.IsNotFound()) findings_->Expect(s, "Get");
  return std::nullopt;
}

std::vector<Content> Store::MultiGet(const std::vector<Cell>& cells, const Snapshot* snapshot) {
  ReadOptions options;
  options.snapshot = snapshot;
  std::vector<ColumnFamilyHandle*> families;
  std::vector<Slice> keys;
  for (const Cell& cell : cells) {
    families.push_back(handles_[cell.family]);
    keys.emplace_back(cell.key);
  }
  std::vector<std::string> values;
  const std::vector<Status> statuses = db_->MultiGet(options, families, keys, &values);
  std::vector<Content> contents(cells.size());
  for (size_t i = 0; i < cells.size(); i++) {
    if (statuses[i].ok()) {
      contents[i] = std::move(values[i]);
    } else if (!statuses[i].IsNotFound()) {
      findings_->Expect(statuses[i], "MultiGet");
    }
  }
  return contents;
}

void Store::Scan(const ScanRange& range, const Snapshot* snapshot, Direction direction,
                 const RowVisitor& visit) {
  ReadOptions options;
  options.snapshot = snapshot;
  const Slice lower(range.lower);
  const Slice upper(range.upper);
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  std::vector<ColumnFamilyHandle*> families;
  for (const size_t family : range.families) families.push_back(handles_[family]);
  std::vector<Iterator*> iterators;
  findings_->Expect(db_->NewIterators(options, families, &iterators), "NewIterators");
  for (size_t i = 0; i < iterators.size(); i++) {
    const std::unique_ptr<Iterator> it(iterators[i]);
    const bool forward = direction == Direction::kForward;
    forward ? it->SeekToFirst() : it->SeekToLast();
    while (it->Valid()) {
      visit(range.families[i], it->key(), it->value());
      forward ? it->Next() : it->Prev();
    }
    findings_->Expect(it->status(), "iterator");
  }
}

void Store::AddWithTimestamp(WriteBatch* batch, const std::string& key, uint64_t moment,
                             const std::string& value) {
  std::string stamp;
  const Slice ts = EncodeU64Ts(moment, &stamp);
  findings_->Expect(batch->Put(handles_[kFamilies], key, ts, value), "filling a batch");
}

void Store::RaiseMark(uint64_t moment) {
  std::string stamp;
  EncodeU64Ts(moment, &stamp);
  findings_->Expect(db_->IncreaseFullHistoryTsLow(handles_[kFamilies], stamp), "raising a mark");
}

std::optional<std::vector<std::string>> Store::ReadAsOf(uint64_t moment, bool forward) {
  std::string stamp;
  const Slice ts = EncodeU64Ts(moment, &stamp);
  ReadOptions options;
  options.timestamp = &ts;
  std::vector<std::string> values;
  const std::unique_ptr<Iterator> it(db_->NewIterator(options, handles_[kFamilies]));
  forward ? it->SeekToFirst() : it->SeekToLast();
  while (it->Valid()) {
    values.push_back(it->value().ToString());
    forward ? it->Next() : it->Prev();
  }
  if (it->status().IsInvalidArgument()) return std::nullopt;
  findings_->Expect(it->status(), "iterator as of a timestamp");
  return values;
}

const Snapshot* Store::Take() {
  return db_->GetSnapshot();
}

void Store::Release(const Snapshot* snapshot) {
  db_->ReleaseSnapshot(snapshot);
}

void Store::Maintain(Random* random) {
  ColumnFamilyHandle* const handle = handles_[random->Below(handles_.size())];
  if (random->OneIn(3)) {
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    findings_->Expect(db_->CompactRange(options, handle, nullptr, nullptr), "CompactRange");
  } else {
    FlushOptions options;
    options.allow_write_stall = true;
    findings_->Expect(db_->Flush(options, handle), "Flush");
  }
}

uint64_t Store::TreeChanges() {
  uint64_t all = 0;
  for (ColumnFamilyHandle* handle : handles_) {
    uint64_t changes = 0;
    if (!db_->GetIntProperty(handle, "rocksdb.current-super-version-number", &changes)) {
      findings_->Report("the super-version's number is not told");
    }
    all += changes;
  }
  return all;
}

std::string Store::StallState() {
  std::string text;
  for (ColumnFamilyHandle* handle : handles_) {
    for (const char* name : {"rocksdb.is-write-stopped", "rocksdb.actual-delayed-write-rate",
                             "rocksdb.num-immutable-mem-table", "rocksdb.mem-table-flush-pending",
                             "rocksdb.compaction-pending", "rocksdb.num-files-at-level0"}) {
      std::string value;
      if (!db_->GetProperty(handle, name, &value)) continue;
      text += std::string(" ") + name + "=" + value;
    }
    text += ";";
  }
  return text;
}

}  // namespace varve::testing
