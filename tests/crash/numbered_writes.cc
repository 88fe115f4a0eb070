// SPDX-License-Identifier: Apache-2.0
#include "tests/crash/numbered_writes.h"

#include "tests/harness/random.h"

namespace varve::testing {

namespace {

constexpr uint64_t kKeys = 300;
const char* const kMarker = "#";

std::string KeyOf(uint64_t k) {
  char text[16];
  snprintf(text, sizeof(text), "key%05llu", static_cast<unsigned long long>(k));
  return text;
}

}  // namespace

std::vector<Change> ChangesOf(uint64_t i, const std::vector<std::string>& families) {
  Random random(i * 7919);
  std::vector<Change> changes;
  for (const std::string& family : families) {
    const uint64_t n = 1 + random.Below(4);
    for (uint64_t c = 0; c < n; c++) {
      Change change;
      change.family = family;
      const uint64_t k = random.Below(kKeys);
      change.key = KeyOf(k);
      const uint64_t dice = random.Below(50);
      if (dice == 0) {
        change.kind = Change::kDeleteRange;
        change.value = KeyOf(k + random.Below(30));
      } else if (dice < 8) {
        change.kind = Change::kDelete;
      } else {
        change.kind = Change::kPut;
        change.value = std::to_string(i) + ":" + random.Text(random.Below(200));
      }
      changes.push_back(change);
    }
    changes.push_back(Change{Change::kPut, family, kMarker, std::to_string(i)});
  }
  return changes;
}

Status WriteNumbered(DB* db, const Handles& handles, const std::vector<std::string>& families,
                     uint64_t i, const WriteOptions& options) {
  WriteBatch batch;
  Status s;
  for (const Change& change : ChangesOf(i, families)) {
    ColumnFamilyHandle* handle = handles.at(change.family);
    if (change.kind == Change::kPut) s = batch.Put(handle, change.key, change.value);
    if (change.kind == Change::kDelete) s = batch.Delete(handle, change.key);
    if (change.kind == Change::kDeleteRange) {
      s = batch.DeleteRange(handle, change.key, change.value);
    }
    if (!s.ok()) return s;
  }
  return db->Write(options, &batch);
}

ReferenceState StateAfter(uint64_t n, const std::vector<std::string>& families) {
  ReferenceState state;
  for (const std::string& family : families) state.families[family];
  for (uint64_t i = 1; i <= n; i++) state.Apply(ChangesOf(i, families));
  return state;
}

namespace {

bool MarkerOf(DB* db, ColumnFamilyHandle* handle, uint64_t* n, std::string* problem) {
  std::string text;
  Status s = db->Get(ReadOptions(), handle, kMarker, &text);
  if (s.IsNotFound()) {
    *n = 0;
    return true;
  }
  if (!s.ok()) {
    *problem = "reading the marker: " + s.ToString();
    return false;
  }
  *n = strtoull(text.c_str(), nullptr, 10);
  return true;
}

std::string CompareFamily(DB* db, ColumnFamilyHandle* handle, const FamilyState& expected) {
  std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions(), handle));
  it->SeekToFirst();
  for (const auto& [key, value] : expected) {
    if (!it->Valid()) return "missing " + key + " " + it->status().ToString();
    if (it->key() != Slice(key)) return "expected " + key + ", found " + it->key().ToString();
    if (it->value() != Slice(value)) return "wrong value of " + key;
    std::string got;
    Status s = db->Get(ReadOptions(), handle, key, &got);
    if (!s.ok() || got != value) return "Get differs from the scan at " + key;
    it->Next();
  }
  if (it->Valid()) return "extra key " + it->key().ToString();
  return it->status().ok() ? "" : it->status().ToString();
}

}  // namespace

PrefixCheck CheckPrefix(DB* db, const Handles& handles, const std::vector<std::string>& families,
                        uint64_t least, uint64_t most, bool per_family) {
  PrefixCheck check;
  std::map<uint64_t, ReferenceState> states;
  bool first = true;
  for (const std::string& family : families) {
    uint64_t n = 0;
    if (!MarkerOf(db, handles.at(family), &n, &check.problem)) return check;
    if (n < least || n > most) {
      check.problem = "family " + family + " is at write " + std::to_string(n) + ", not within " +
                      std::to_string(least) + ".." + std::to_string(most);
      return check;
    }
    if (!first && !per_family && n != check.n) {
      check.problem =
          "families are at writes " + std::to_string(check.n) + " and " + std::to_string(n);
      return check;
    }
    first = false;
    check.n = n;
    if (states.count(n) == 0) states[n] = StateAfter(n, families);
    const std::string problem =
        CompareFamily(db, handles.at(family), states[n].families.at(family));
    if (!problem.empty()) {
      check.problem = "family " + family + " at write " + std::to_string(n) + ": " + problem;
      return check;
    }
  }
  check.ok = true;
  return check;
}

Status OpenWithFamilies(const DBOptions& db_options, const ColumnFamilyOptions& cf_options,
                        const std::string& name, const std::vector<std::string>& families,
                        std::unique_ptr<DB>* db, Handles* handles) {
  std::vector<ColumnFamilyDescriptor> descriptors;
  for (const std::string& family : families) descriptors.emplace_back(family, cf_options);
  std::vector<ColumnFamilyHandle*> opened;
  DB* raw = nullptr;
  Status s = DB::Open(db_options, name, descriptors, &opened, &raw);
  db->reset(raw);
  handles->clear();
  for (size_t i = 0; i < opened.size(); i++) (*handles)[families[i]] = opened[i];
  return s;
}

void CloseWithFamilies(std::unique_ptr<DB>* db, Handles* handles) {
  if (*db == nullptr) return;
  for (auto& [name, handle] : *handles) {
    (*db)->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  handles->clear();
  db->reset();
}

}  // namespace varve::testing
