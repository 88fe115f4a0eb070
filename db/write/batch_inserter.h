// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks updates against the open column families, and inserts them into memtables.

#include <cstdint>
#include <type_traits>

#include "db/column_family/memtable_resolver.h"
#include "db/write/batch_reader.h"
#include "db/write/write_request.h"
#include "memtable/memtable.h"

namespace varve {

// Says what a check accepts.
struct BatchCheckOptions {
  bool ignore_missing_families = false;
  bool unset_timestamps = false;  // Accepted, because they are set later.
};

// Checks, before anything is logged, for everything that could make the insertion fail. Corruption:
// the structure, the count, or a record of an unknown type. NotSupported: a record of a feature
// that this library lacks, or that no batch may have. InvalidArgument: an unknown family (unless
// ignored), a timestamp that is not set or not of the family's size, a reversed range, a merge
// without an operator (NotSupported in CheckUpdate). For keys about which `batch` (which may be
// null) has no information, only checks that they are long enough for their timestamps.
Status CheckBatch(const Slice& rep, MemTableResolver* resolver, const BatchCheckOptions& options,
                  const WriteBatch* batch = nullptr);
// Checks a request with one update in the same way.
Status CheckUpdate(const WriteRequest& request, MemTableResolver* resolver,
                   const BatchCheckOptions& options);
// Checks a request that has a batch. If that is one update, sets the update in the request
// (WriteRequest::SetUpdate).
Status CheckBatchRequest(WriteRequest* request, MemTableResolver* resolver,
                         const BatchCheckOptions& options);
// Checks a request. A batch of one update becomes a request for that update, unless its family is
// missing or has timestamps, so that it is parsed only once.
inline Status CheckRequest(WriteRequest* request, MemTableResolver* resolver,
                           const BatchCheckOptions& options) {
  return request->update() != nullptr ? CheckUpdate(*request, resolver, options)
                                      : CheckBatchRequest(request, resolver, options);
}

// The result of inserting one batch.
struct BatchInsertResult {
  SequenceNumber next_sequence = 0;  // One past the batch's last.
  uint64_t inserted = 0;             // Entries that reached a memtable.
};

// Inserts batches one after the other. Successive records of one family, in one batch or in
// several, are inserted into its memtable together, which is faster. Thread safety: none. Lifetime:
// a batch's bytes must live until Flush, the resolver longer.
class BatchInserter {
 public:
  explicit BatchInserter(MemTableResolver* resolver) : resolver_(resolver) {
    static_assert(std::is_trivially_destructible_v<MemTableEntry>);
  }
  BatchInserter(const BatchInserter&) = delete;
  BatchInserter& operator=(const BatchInserter&) = delete;

  // Works like InsertBatch, but the last records may stay pending until Flush. Sets *next_sequence
  // to one past the last record, and leaves it if there is none.
  Status Insert(const Slice& rep, SequenceNumber sequence, SequenceNumber* next_sequence);
  // Inserts the pending records. The next record looks up its memtable again.
  Status Flush();
  uint64_t inserted() const { return inserted_; }  // Entries that reached a memtable.

 private:
  // Inserts a merge, alone and after all pending records, if the family folds merges: it may store
  // their result at once (max_successive_merges), for which it reads what is in the memtable.
  Status InsertMerge(const BatchRecord& record, SequenceNumber sequence);

  // Finds the memtable of a family.
  MemTableResolver* const resolver_;
  bool known_ = false;  // True if mem_ is the memtable of family_.
  // The family found last, and its memtable: most batches have only one.
  uint32_t family_ = 0;
  MemTable* mem_ = nullptr;
  size_t ts_size_ = 0;  // Timestamp size of mem_'s keys.
  uint64_t inserted_ = 0;
  size_t size_ = 0;
  size_t bytes_ = 0;  // Bytes of the pending keys and values.
  // The first size_ elements exist, and are pending for mem_; so a batch of one does not initialise
  // all.
  union {
    MemTableEntry run_[MemTable::kAddedTogether];
  };
};

// Inserts the records with sequence numbers from `sequence` on, and sets *result. Records of
// unknown families are skipped (they still use a sequence number); no others are. After an error
// the records before it are inserted.
Status InsertBatch(const Slice& rep, SequenceNumber sequence, MemTableResolver* resolver,
                   BatchInsertResult* result);
// Inserts one update that is written now, not replayed, and sets *result.
Status InsertUpdate(const BatchRecord& update, SequenceNumber sequence, MemTableResolver* resolver,
                    BatchInsertResult* result);
// Inserts the updates of a request, and sets *result.
inline Status InsertRequest(const WriteRequest& request, SequenceNumber sequence,
                            MemTableResolver* resolver, BatchInsertResult* result) {
  const BatchRecord* const update = request.update();
  return update == nullptr ? InsertBatch(request.head(), sequence, resolver, result)
                           : InsertUpdate(*update, sequence, resolver, result);
}

}  // namespace varve
