// SPDX-License-Identifier: Apache-2.0

// Defines what a player knows and judges.

#include <algorithm>

#include "varve/sst_file_writer.h"

#include "tests/matrix/call_table.h"
#include "util/coding/fixed.h"

namespace varve::testing {

void Player::WriteTables() {
  Options options = stage_->options;
  options.env = stage_->env.get();
  for (int i = 0; i < 4; i++) {
    Table table{"/outside-" + prefix_ + std::to_string(i) + ".sst", Key(), Value()};
    SstFileWriter writer(EnvOptions(), options);
    Status s = writer.Open(table.path);
    if (s.ok()) s = writer.Put(table.key, table.value);
    if (s.ok()) s = writer.Finish();
    if (s.ok()) tables_.push_back(std::move(table));
  }
}

bool Player::TakeTable(Table* table) {
  if (tables_.empty()) return false;
  *table = std::move(tables_.back());
  tables_.pop_back();
  return true;
}

void Player::Wrote(const Status& s, const std::string& family, const std::string& key,
                   const std::string* value) {
  Expect("a write", s, {Status::kIncomplete});
  if (s.ok()) expected_[family].values[key] = value == nullptr ? "" : *value;
}

void Player::Counted(const Status& s, const std::string& family) {
  Expect("a merge", s);
  if (s.ok()) expected_[family].count++;
}

void Player::Expect(const char* call, const Status& s, std::initializer_list<Status::Code> others) {
  if (s.ok() || s.IsShutdownInProgress() || s.IsColumnFamilyDropped()) return;
  if (std::find(others.begin(), others.end(), s.code()) != others.end()) return;
  Wrong(std::string(call) + " answered " + s.ToString());
}

void Player::Wrong(const std::string& what) {
  if (wrong_.empty()) wrong_ = what;
}

void Player::Walk(const char* call, Iterator* it, std::initializer_list<Status::Code> others) {
  int first_keys = 0;
  const auto count = [&] {
    if (it->key().starts_with("i")) first_keys++;
  };
  for (it->SeekToFirst(); it->Valid(); it->Next()) count();
  const Status forward = it->status();
  // Some kinds of iterators do not go backward, and report that.
  if (forward.ok() && first_keys < kFirstKeys) {
    Wrong(std::string(call) + " missed keys: " + std::to_string(first_keys));
  }
  Expect(call, forward, others);
  it->SeekToLast();
  if (it->Valid()) it->Prev();
  it->Seek("i05");
  if (it->Valid()) it->Next();
}

void Player::UseAfterClose() {
  for (auto& it : iterators_) {
    it->Refresh().PermitUncheckedError();
    it->SeekToFirst();
    while (it->Valid()) it->Next();
    it->status().PermitUncheckedError();
  }
}

void Player::ReleaseSomeHandles() {
  const size_t left = handles_.size() / 2;
  while (handles_.size() > left) {
    Expect("DestroyColumnFamilyHandle", db()->DestroyColumnFamilyHandle(handles_.back()));
    handles_.pop_back();
  }
}

void Player::UseAfterDelete() {
  UseAfterClose();
  for (ColumnFamilyHandle* handle : handles_) {
    if (!Slice(handle->GetName()).starts_with(prefix_)) Wrong("GetName of a handle that is left");
    delete handle;
  }
  handles_.clear();
  iterators_.clear();
}

void Player::Check(DB* db, const std::map<std::string, ColumnFamilyHandle*>& handles) {
  for (const auto& [name, expected] : expected_) {
    const auto handle = handles.find(name);
    if (handle == handles.end()) continue;  // dropped, as the stage knows
    std::string found;
    ReadOptions options;
    std::string newest;
    PutFixed64(&newest, UINT64_MAX);
    const Slice timestamp(newest);
    if (name == "t") options.timestamp = &timestamp;
    for (const auto& [key, value] : expected.values) {
      const Status s = db->Get(options, handle->second, key, &found);
      if (value.empty() ? !s.IsNotFound() : !s.ok() || found != value) {
        Wrong("LOST " + name + "/" + key + ": expected " +
              (value.empty() ? "nothing" : value.substr(0, 12)) + ", found " +
              (s.ok() ? found.substr(0, 12) : s.ToString()));
      }
    }
    if (expected.count == 0) continue;
    const Status s = db->Get(options, handle->second, CounterKey(), &found);
    const uint64_t sum = s.ok() && found.size() == 8 ? DecodeFixed64(found.data()) : 0;
    if (sum != expected.count) {
      Wrong("LOST " + name + ": " + std::to_string(expected.count) + " merges count as " +
            std::to_string(sum));
    }
  }
}

}  // namespace varve::testing
