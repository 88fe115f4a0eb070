// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shared parts of the two kinds of write batches of the C API.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "varve/utilities/write_batch_with_index.h"

#include "db/api/c/c_types.h"

// Holds what belongs to the handle of an indexed batch, unless it is a transaction's.
struct OwnedIndexedBatch {
  varve::WriteBatchWithIndex rep;
  varve::c::BatchFailure failure;
  std::shared_ptr<const varve::Comparator> comparator;  // Used by `rep`.
};

// The handle of an indexed batch: its own (`owned` is set, and has what `rep` and `failure` refer
// to), or a view of a transaction's batch (`owned` is null, and the transaction must outlive the
// handle). Allocated by malloc, because programs release a view by rocksdb_free.
struct rocksdb_writebatch_wi_t {
  varve::WriteBatchWithIndex& rep;
  varve::c::BatchFailure& failure;
  OwnedIndexedBatch* owned;
};

namespace varve::c {

// Takes ownership of `owned`, which is null for a view. Returns null if there is no memory; `owned`
// is then still the caller's.
rocksdb_writebatch_wi_t* NewIndexedBatchHandle(WriteBatchWithIndex* batch, BatchFailure* failure,
                                               OwnedIndexedBatch* owned) noexcept;

// Thrown by Pieces if they, or their sizes, are null.
struct NullPieces {};

// Adds an update by `add`, which gets the C++ batch and returns a Status. A failure is kept in the
// batch, and makes rocksdb_write fail. Does nothing for a null batch.
template <typename Batch, typename AddUpdate>
void Add(Batch* batch, AddUpdate add) noexcept {
  if (batch == nullptr) return;
  Status s;
  try {
    s = add(&batch->rep);
  } catch (const NullPieces&) {
    s = NullArgument("pieces of a key or value");
  } catch (...) {
    s = CaughtException();
  }
  batch->failure.Note(std::move(s));
}

template <typename Batch>
void SetSavePoint(Batch* batch) noexcept {
  Add(batch, [&](auto* b) {
    b->SetSavePoint();
    batch->failure.SavePointSet();
    return Status::OK();
  });
}

template <typename Batch>
Status RollbackToSavePoint(Batch* batch) {
  if (batch == nullptr) return NullArgument("batch");
  Status s = batch->rep.RollbackToSavePoint();
  if (s.ok()) batch->failure.RolledBack();
  return s;
}

template <typename Batch>
Status PopSavePoint(Batch* batch) {
  if (batch == nullptr) return NullArgument("batch");
  Status s = batch->rep.PopSavePoint();
  if (s.ok()) batch->failure.SavePointPopped();
  return s;
}

template <typename Batch>
void Clear(Batch* batch) noexcept {
  if (batch == nullptr) return;
  TryVoid([&] { batch->rep.Clear(); });
  batch->failure = BatchFailure();
}

// Does what Add does, for an update of a column family: `add` gets the batch and the C++ family. A
// null `family` is an error that is kept.
template <typename Batch, typename AddUpdate>
void AddIn(Batch* batch, rocksdb_column_family_handle_t* family, AddUpdate add) noexcept {
  Add(batch,
      [&](auto* b) { return family == nullptr ? NullArgument("family") : add(b, Family(family)); });
}

// Joins `count` pieces that make up one key or value. Throws NullPieces.
class Pieces {
 public:
  Pieces(int count, const char* const* pieces, const size_t* sizes) {
    if (count > 0 && (pieces == nullptr || sizes == nullptr)) {
      throw NullPieces();
    }
    for (int i = 0; i < count; ++i) {
      if (pieces[i] == nullptr && sizes[i] != 0) throw NullPieces();
      slices_.emplace_back(pieces[i], sizes[i]);
    }
  }
  // Returns the pieces; valid as long as this object.
  SliceParts parts() const { return SliceParts(slices_.data(), static_cast<int>(slices_.size())); }

 private:
  std::vector<Slice> slices_;
};

// Deletes one range, whose start and end consist of `count` pieces each.
inline Status DeletePiecewise(WriteBatchBase* batch, ColumnFamilyHandle* family, int count,
                              const char* const* starts, const size_t* start_sizes,
                              const char* const* ends, const size_t* end_sizes) {
  return batch->DeleteRange(family, Pieces(count, starts, start_sizes).parts(),
                            Pieces(count, ends, end_sizes).parts());
}

// Callbacks of C: the caller's state, a key, and a value.
using PutFunction = void (*)(void*, const char*, size_t, const char*, size_t);
using DeleteFunction = void (*)(void*, const char*, size_t);

// Passes updates of the default family to callbacks. An update of another kind or family ends it.
void IteratePlain(const WriteBatch& batch, void* state, PutFunction put, DeleteFunction deleted);

// Does WriteBatch::UpdateTimestamps with a C callback for the sizes, which must not be null.
Status UpdateTimestamps(WriteBatch* batch, const Slice& ts, void* state,
                        size_t (*get_ts_size)(void*, uint32_t));

}  // namespace varve::c
