// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks what is to be written against the open column families, and puts it into their memtables.

#include <cstdint>
#include <type_traits>

#include "db/column_family/memtable_resolver.h"
#include "db/write/batch_reader.h"
#include "db/write/write_request.h"
#include "memtable/memtable.h"

namespace varve {

struct BatchCheckOptions {
  bool ignore_missing_families = false;
  bool unset_timestamps = false;  // are right: they are set later
};

// Everything that could make the insertion fail, found before anything is logged: structure, count,
// unknown families (unless ignored), timestamps that are not set or not of the family's size,
// reversed ranges, merges without an operator, records of features that are not supported. Of what
// `batch` (which may be null) does not know, only that keys are long enough for their timestamps.
Status CheckBatch(const Slice& rep, MemTableResolver* resolver, const BatchCheckOptions& options,
                  const WriteBatch* batch = nullptr);
// The same for one update.
Status CheckUpdate(const WriteRequest& request, MemTableResolver* resolver,
                   const BatchCheckOptions& options);
Status CheckBatchRequest(WriteRequest* request, MemTableResolver* resolver,
                         const BatchCheckOptions& options);
// The same for a request. A batch of one update becomes a request for that update, unless its
// family is missing or has timestamps: it is read once, not by each who has to do with it.
inline Status CheckRequest(WriteRequest* request, MemTableResolver* resolver,
                           const BatchCheckOptions& options) {
  return request->update() != nullptr ? CheckUpdate(*request, resolver, options)
                                      : CheckBatchRequest(request, resolver, options);
}

struct BatchInsertResult {
  SequenceNumber next_sequence = 0;  // one past the batch's last
  uint64_t inserted = 0;             // entries that reached a memtable
};

// Inserts batches one after the other. Records of one family that follow each other, in one batch
// or in several, go to its memtable together: that takes less time than one by one. Thread safety:
// none. Lifetime: a batch's bytes live until Flush, the resolver longer.
class BatchInserter {
 public:
  explicit BatchInserter(MemTableResolver* resolver) : resolver_(resolver) {
    static_assert(std::is_trivially_destructible_v<MemTableEntry>);
  }
  BatchInserter(const BatchInserter&) = delete;
  BatchInserter& operator=(const BatchInserter&) = delete;

  // As InsertBatch, but the last records may wait for Flush. Sets *next_sequence to one past the
  // last record, unless there is none.
  Status Insert(const Slice& rep, SequenceNumber sequence, SequenceNumber* next_sequence);
  // Inserts what waits. The next record asks for its memtable again.
  Status Flush();
  uint64_t inserted() const { return inserted_; }  // entries that reached a memtable

 private:
  // A merge of a family that folds them: alone, after all that waits.
  Status InsertMerge(const BatchRecord& record, SequenceNumber sequence);

  MemTableResolver* const resolver_;
  bool known_ = false;  // whether `mem_` is that of `family_`
  uint32_t family_ = 0;
  MemTable* mem_ = nullptr;
  size_t ts_size_ = 0;  // of `mem_`'s keys
  uint64_t inserted_ = 0;
  size_t size_ = 0;
  size_t bytes_ = 0;  // of the keys and values that wait
  // The first `size_` exist, and wait for `mem_`: a batch of one does not pay for all.
  union {
    MemTableEntry run_[MemTable::kAddedTogether];
  };
};

// Inserts the records with sequences from `sequence` on. Records of unknown families are skipped
// (they still consume a sequence); nothing else is.
Status InsertBatch(const Slice& rep, SequenceNumber sequence, MemTableResolver* resolver,
                   BatchInsertResult* result);
// The same for one update that is written now, not replayed.
Status InsertUpdate(const BatchRecord& update, SequenceNumber sequence, MemTableResolver* resolver,
                    BatchInsertResult* result);
// The same for a request.
inline Status InsertRequest(const WriteRequest& request, SequenceNumber sequence,
                            MemTableResolver* resolver, BatchInsertResult* result) {
  const BatchRecord* const update = request.update();
  return update == nullptr ? InsertBatch(request.head(), sequence, resolver, result)
                           : InsertUpdate(*update, sequence, resolver, result);
}

}  // namespace varve
