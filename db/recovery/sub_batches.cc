// SPDX-License-Identifier: Apache-2.0

// RocksDB's WRITE_PREPARED numbers a batch by sub-batches: all updates of one share a number, and a
// key that occurs again begins the next one. The replay applies the same rule, since the numbers
// determine which of two updates is newer, and later records have the next numbers.
//
//      put a, put b, put a, put c, put a        a b | a c | a: numbers 7, 8, 9

#include "db/recovery/sub_batches.h"

#include <map>
#include <set>
#include <string>

#include "varve/comparator.h"

#include "db/write/batch_inserter.h"
#include "db/write/batch_reader.h"
#include "db/write/two_phase_records.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

struct KeyLess {
  const Comparator* comparator;
  bool operator()(const Slice& a, const Slice& b) const { return comparator->Compare(a, b) < 0; }
};

// The keys of the current sub-batch, by family.
class SubBatchKeys {
 public:
  explicit SubBatchKeys(MemTableResolver* resolver) : resolver_(*resolver) {}

  // Adds a user key, with its timestamp if it has one. Returns false if it is there already. Keys
  // of families that do not exist are not stored, as they have no comparator.
  bool Add(uint32_t family, const Slice& key) {
    auto keys = keys_.find(family);
    if (keys == keys_.end()) {
      const Comparator* const comparator = resolver_.ComparatorOf(family);
      if (comparator == nullptr) return true;
      keys = keys_.emplace(family, std::set<Slice, KeyLess>(KeyLess{comparator})).first;
    }
    return keys->second.insert(key).second;
  }
  void Clear() { keys_.clear(); }

 private:
  MemTableResolver& resolver_;
  std::map<uint32_t, std::set<Slice, KeyLess>> keys_;
};

}  // namespace

// Each update is inserted as a batch of its own, because the updates of one batch get ascending
// numbers.
Status InsertSubBatches(const Slice& updates, uint32_t count, MemTableResolver* resolver,
                        SequenceNumber* next_sequence) {
  const std::string batch = MakeBatchOf(updates, count);
  BatchReader reader(batch);
  BatchRecord record;
  SubBatchKeys keys(resolver);
  bool any = false;
  SequenceNumber sequence = *next_sequence;
  for (size_t at = reader.offset(); reader.Next(&record); at = reader.offset()) {
    if (!record.counted) continue;
    if (!keys.Add(record.column_family, record.key)) {
      sequence++;
      keys.Clear();
      keys.Add(record.column_family, record.key);
    }
    any = true;
    const Slice one(batch.data() + at, reader.offset() - at);
    BatchInsertResult result;
    VARVE_RETURN_IF_ERROR(InsertBatch(MakeBatchOf(one, 1), sequence, resolver, &result));
  }
  if (any) *next_sequence = sequence + 1;
  return reader.status();
}

}  // namespace varve
