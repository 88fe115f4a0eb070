// SPDX-License-Identifier: Apache-2.0
#include "tests/crash/numbered_writes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "tests/crash/family_kinds.h"
#include "tests/harness/random.h"

namespace varve::testing {

namespace {

constexpr uint64_t kKeys = 300;
constexpr uint64_t kStatesKept = 150;
const char* const kMarker = "#";

std::string KeyOf(uint64_t k) {
  char text[16];
  snprintf(text, sizeof(text), "key%05llu", static_cast<unsigned long long>(k));
  return text;
}

// Returns a key's change in write i, of a kind that its family has.
Change ChangeOfKey(const std::string& family, uint64_t i, Random* random) {
  Change change;
  change.family = family;
  const uint64_t k = random->Below(kKeys);
  change.key = KeyOf(k);
  const uint64_t dice = random->Below(50);
  const bool sums = HasSums(family);
  if (dice == 0 && !HasPlainTables(family)) {
    change.kind = Change::kDeleteRange;
    change.value = KeyOf(k + random->Below(30));
  } else if (dice < 8) {
    change.kind = Change::kDelete;
  } else if (dice < 34 && (sums || HasTexts(family))) {
    change.kind = Change::kMerge;
    const std::string text = std::to_string(i) + ":" + random->Text(random->Below(20));
    change.value = sums ? Stamp(i * 1'000'003) : text;
  } else {
    change.kind = Change::kPut;
    const std::string text = std::to_string(i) + ":" + random->Text(random->Below(200));
    change.value = sums ? Stamp(i) : text;
  }
  return change;
}

// The names of further columns of entities: half of the value, and the key.
constexpr Slice kHalfColumn("half", 4);
constexpr Slice kKeyColumn("key", 3);

// True for a put of an entity: its default column has the value, and plain reads see no other.
bool WritesEntity(const Change& change) {
  return change.kind == Change::kPut && change.key != kMarker &&
         (HasColumns(change.family) || change.value.size() % 4 == 1);
}

// Returns the columns of the entity of this key and value, in order.
WideColumns EntityOf(const std::string& family, const std::string& key, const std::string& value) {
  WideColumns columns = {{kDefaultWideColumnName, value}};
  if (HasColumns(family)) columns.emplace_back(kHalfColumn, Slice(value.data(), value.size() / 2));
  columns.emplace_back(kKeyColumn, key);
  return columns;
}

Status AddToBatch(ColumnFamilyHandle* handle, const Change& change, WriteBatch* batch) {
  switch (change.kind) {
    case Change::kPut:
      return WritesEntity(change)
                 ? batch->PutEntity(handle, change.key,
                                    EntityOf(change.family, change.key, change.value))
                 : batch->Put(handle, change.key, change.value);
    case Change::kDelete:
      return batch->Delete(handle, change.key);
    case Change::kSingleDelete:
      return batch->SingleDelete(handle, change.key);
    case Change::kDeleteRange:
      return batch->DeleteRange(handle, change.key, change.value);
    case Change::kMerge:
      return batch->Merge(handle, change.key, change.value);
  }
  return Status::OK();
}

Status AddToBatchAt(ColumnFamilyHandle* handle, const Change& change, const Slice& ts,
                    WriteBatch* batch) {
  switch (change.kind) {
    case Change::kPut:
      return batch->Put(handle, change.key, ts, change.value);
    case Change::kDelete:
      return batch->Delete(handle, change.key, ts);
    case Change::kSingleDelete:
      return batch->SingleDelete(handle, change.key, ts);
    case Change::kDeleteRange:
      return batch->DeleteRange(handle, change.key, change.value, ts);
    case Change::kMerge:
      return batch->Merge(handle, change.key, ts, change.value);
  }
  return Status::OK();
}

}  // namespace

std::vector<Change> ChangesOf(uint64_t i, const std::vector<std::string>& families) {
  Random random(i * 7919);
  std::vector<Change> changes;
  for (const std::string& family : families) {
    const uint64_t n = 1 + random.Below(4);
    for (uint64_t c = 0; c < n; c++) changes.push_back(ChangeOfKey(family, i, &random));
    changes.push_back(Change{Change::kPut, family, kMarker, std::to_string(i)});
  }
  return changes;
}

Status MakeNumbered(const Handles& handles, const std::vector<std::string>& families, uint64_t i,
                    WriteBatch* batch) {
  const std::string stamp = Stamp(i);
  for (const Change& change : ChangesOf(i, families)) {
    ColumnFamilyHandle* const handle = handles.at(change.family);
    const Status s = HasVersions(change.family) ? AddToBatchAt(handle, change, stamp, batch)
                                                : AddToBatch(handle, change, batch);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

Status WriteNumbered(DB* db, const Handles& handles, const std::vector<std::string>& families,
                     uint64_t i, const WriteOptions& options) {
  WriteBatch batch;
  const Status s = MakeNumbered(handles, families, i, &batch);
  return s.ok() ? db->Write(options, &batch) : s;
}

Status RaiseMarks(DB* db, const Handles& handles, uint64_t mark) {
  for (const auto& [family, handle] : handles) {
    if (!HasVersions(family) || IsBare(family)) continue;
    uint64_t before = 0;
    Status s = MarkOf(db, handle, &before);
    if (s.ok() && before < mark) s = db->IncreaseFullHistoryTsLow(handle, Stamp(mark));
    if (!s.ok()) return s;
  }
  return Status::OK();
}

void ApplyNumbered(uint64_t i, const std::vector<std::string>& families, ReferenceState* state) {
  for (const Change& change : ChangesOf(i, families)) {
    if (change.kind != Change::kMerge) {
      state->Apply(change);
      continue;
    }
    FamilyState& family = state->families.at(change.family);
    const auto found = family.find(change.key);
    const std::string* const value = found == family.end() ? nullptr : &found->second;
    std::string merged = Merged(change.family, value, change.value);
    family[change.key] = std::move(merged);
  }
}

bool AreColumnsOf(const std::string& family, const std::string& key, const std::string& value,
                  const WideColumns& columns) {
  const bool may_be_plain = key == kMarker || !HasColumns(family);
  if (may_be_plain && columns == WideColumns{{kDefaultWideColumnName, value}}) return true;
  return columns == EntityOf(family, key, value);
}

std::string CompareFamily(DB* db, ColumnFamilyHandle* handle, const ReadOptions& options,
                          const FamilyState& expected) {
  std::unique_ptr<Iterator> it(db->NewIterator(options, handle));
  it->SeekToFirst();
  for (const auto& [key, value] : expected) {
    if (!it->Valid()) return "missing " + key + " " + it->status().ToString();
    if (it->key() != Slice(key)) return "expected " + key + ", found " + it->key().ToString();
    if (it->value() != Slice(value)) return "wrong value of " + key;
    if (!AreColumnsOf(handle->GetName(), key, value, it->columns())) {
      return "wrong columns of " + key;
    }
    std::string got;
    Status s = db->Get(options, handle, key, &got);
    if (!s.ok() || got != value) return "Get differs from the scan at " + key;
    it->Next();
  }
  if (it->Valid()) return "extra key " + it->key().ToString();
  return it->status().ok() ? "" : it->status().ToString();
}

namespace {

bool MarkerOf(DB* db, const std::string& family, ColumnFamilyHandle* handle, uint64_t* n,
              std::string* problem) {
  std::string text;
  const ReadingAsOf now(family, UINT64_MAX);
  Status s = db->Get(now.options(), handle, kMarker, &text);
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

// Sets *moments to the timestamps at which a family at write n is compared: from its mark, before
// which reads are not allowed, to after the last write.
std::string MomentsOf(DB* db, ColumnFamilyHandle* handle, uint64_t n,
                      std::vector<uint64_t>* moments, PrefixCheck* check) {
  uint64_t mark = 0;
  Status s = MarkOf(db, handle, &mark);
  if (!s.ok()) return "its mark: " + s.ToString();
  check->mark = std::min(check->mark, mark);
  if (mark > 0) {
    const ReadingAsOf before("versions", mark - 1);
    std::string value;
    s = db->Get(before.options(), handle, kMarker, &value);
    if (!s.IsInvalidArgument()) {
      return "a read as of " + std::to_string(mark - 1) + " is not refused: " + s.ToString();
    }
  }
  *moments = {mark, UINT64_MAX};
  if (mark < n) moments->insert(moments->end(), {n - (n - mark) / 3, n - (n - mark) / 2, n});
  return "";
}

using States = std::map<uint64_t, ReferenceState>;

// Checks that a family with timestamps holds, as of the timestamp of write t, the state after write
// t.
std::string CompareMoments(DB* db, const std::string& family, ColumnFamilyHandle* handle,
                           const std::vector<uint64_t>& moments, uint64_t n, const States& states) {
  for (const uint64_t moment : moments) {
    const ReadingAsOf reading(family, moment);
    const uint64_t writes = std::min(moment, n);
    const std::string problem =
        CompareFamily(db, handle, reading.options(), states.at(writes).families.at(family));
    if (!problem.empty()) return "as of " + std::to_string(moment) + ": " + problem;
  }
  return "";
}

// The position of a family: its write, and the timestamps at which it can be read.
struct Position {
  uint64_t n = 0;
  std::vector<uint64_t> moments = {UINT64_MAX};
};

std::string PositionOf(DB* db, const std::string& family, ColumnFamilyHandle* handle,
                       uint64_t least, uint64_t most, Position* position, PrefixCheck* check) {
  std::string problem;
  if (!MarkerOf(db, family, handle, &position->n, &problem)) return problem;
  if (position->n < least || position->n > most) {
    return "is at write " + std::to_string(position->n) + ", not within " + std::to_string(least) +
           ".." + std::to_string(most);
  }
  if (!HasVersions(family)) return "";
  return MomentsOf(db, handle, position->n, &position->moments, check);
}

ReferenceState NothingWritten(const std::vector<std::string>& families) {
  ReferenceState state;
  for (const std::string& family : families) state.families[family];
  return state;
}

// Returns the state of a short history; these are requested repeatedly, so they are kept.
const ReferenceState& KeptState(uint64_t n, const std::vector<std::string>& families) {
  thread_local std::map<std::vector<std::string>, std::vector<ReferenceState>> kept;
  std::vector<ReferenceState>& states = kept[families];
  if (states.empty()) states.push_back(NothingWritten(families));
  while (states.size() <= n) {
    states.push_back(states.back());
    ApplyNumbered(states.size() - 1, families, &states.back());
  }
  return states[n];
}

// Returns the states after these writes.
States StatesAfter(const std::set<uint64_t>& writes, const std::vector<std::string>& families) {
  States states;
  ReferenceState state;
  uint64_t at = 0;
  for (const uint64_t n : writes) {
    const uint64_t kept = std::min(n, kStatesKept);
    if (at < kept || state.families.empty()) {
      state = KeptState(kept, families);
      at = kept;
    }
    while (at < n) ApplyNumbered(++at, families, &state);
    states[n] = state;
  }
  return states;
}

}  // namespace

ReferenceState StateAfter(uint64_t n, const std::vector<std::string>& families) {
  return StatesAfter({n}, families).at(n);
}

PrefixCheck CheckPrefix(DB* db, const Handles& handles, const std::vector<std::string>& families,
                        uint64_t least, uint64_t most, bool per_family) {
  PrefixCheck check;
  std::map<std::string, Position> positions;
  std::set<uint64_t> writes;
  for (const std::string& family : families) {
    Position& position = positions[family];
    check.problem = PositionOf(db, family, handles.at(family), least, most, &position, &check);
    if (check.problem.empty() && family != families[0] && !per_family && position.n != check.n) {
      check.problem = "is at write " + std::to_string(position.n) + ", another one at " +
                      std::to_string(check.n);
    }
    if (!check.problem.empty()) {
      check.problem = "family " + family + " " + check.problem;
      return check;
    }
    check.n = position.n;
    for (const uint64_t moment : position.moments) writes.insert(std::min(moment, position.n));
  }
  const States states = StatesAfter(writes, families);
  for (const std::string& family : families) {
    const Position& position = positions[family];
    const std::string problem =
        CompareMoments(db, family, handles.at(family), position.moments, position.n, states);
    if (!problem.empty()) {
      check.problem =
          "family " + family + " at write " + std::to_string(position.n) + ": " + problem;
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
  for (const std::string& family : families) {
    descriptors.emplace_back(family, cf_options);
    TuneFamily(family, &descriptors.back().options);
  }
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
