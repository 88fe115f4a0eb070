// SPDX-License-Identifier: Apache-2.0
// Implements iterators and snapshots for the C API.
//
// C has no exceptions and most functions here have no `errptr`, so everything that goes wrong
// becomes an iterator that is not valid and has a status (rocksdb_iter_get_error).
#include "db/api/c/c_types.h"
#include "util/base/assert.h"

using varve::ColumnFamilyHandle;
using varve::DB;
using varve::Iterator;
using varve::ReadOptions;
using varve::Slice;
using varve::Status;
using varve::c::Family;
using varve::c::HoldOptions;
using varve::c::NullArgument;
using varve::c::TryVoid;

namespace {

// Returns an iterator from `make`, or one that only has a status. Null when out of memory.
template <typename MakeIterator>
rocksdb_iterator_t* NewHandle(rocksdb_t* db, const rocksdb_readoptions_t* options,
                              MakeIterator make) {
  return varve::c::Try([&]() -> rocksdb_iterator_t* {
    auto iter = std::make_unique<rocksdb_iterator_t>();
    if (db == nullptr || options == nullptr) {
      iter->rep.reset(varve::NewErrorIterator(NullArgument("db or options")));
      return iter.release();
    }
    HoldOptions(iter.get(), options);
    iter->rep.reset(make(db->rep.get(), options->rep));
    VARVE_ASSERT(iter->rep != nullptr);
    return iter.release();
  });
}

// Runs `move`. An exception turns the iterator into one that has a status and no entries.
template <typename Move>
void MoveWith(const rocksdb_iterator_t* iter, Move move) noexcept {
  if (iter == nullptr) return;
  try {
    move(iter->rep.get());
  } catch (...) {
    const Status s = varve::c::CaughtException();
    // The iterator that threw may be in any state, so it is replaced.
    TryVoid([&] { iter->rep.reset(varve::NewErrorIterator(s)); });
  }
}

// Returns bytes of the entry, from `get`; null for a null handle.
template <typename Get>
const char* Give(const rocksdb_iterator_t* iter, size_t* size, Get get) {
  const Slice bytes = iter == nullptr ? Slice(nullptr, 0) : get(*iter->rep);
  varve::c::StoreSize(size, bytes.size());
  return bytes.data();
}

template <typename Get>
rocksdb_slice_t Give(const rocksdb_iterator_t* iter, Get get) {
  const Slice bytes = iter == nullptr ? Slice(nullptr, 0) : get(*iter->rep);
  return {bytes.data(), bytes.size()};
}

// Returns the value, which may have to be read now; null if that fails.
Slice ValueOf(const rocksdb_iterator_t& iter) {
  return varve::c::PrepareValue(iter) ? iter.rep->value() : Slice(nullptr, 0);
}

}  // namespace

bool varve::c::PrepareValue(const rocksdb_iterator_t& iter) noexcept {
  if (!iter.lazy) [[likely]]
    return true;
  bool prepared = false;
  MoveWith(&iter, [&](Iterator* i) { prepared = i->PrepareValue(); });
  return prepared;
}

void varve::c::HoldOptions(rocksdb_iterator_t* iter, const rocksdb_readoptions_t* options) {
  iter->lazy = options->rep.allow_unprepared_value;
  iter->keys[0] = options->lower_bound;
  iter->keys[1] = options->upper_bound;
  iter->keys[2] = options->timestamp;
  iter->keys[3] = options->iter_start_ts;
}

rocksdb_iterator_t* rocksdb_create_iterator(rocksdb_t* db, const rocksdb_readoptions_t* options) {
  return NewHandle(db, options, [](DB* d, const ReadOptions& o) { return d->NewIterator(o); });
}

rocksdb_iterator_t* rocksdb_create_iterator_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                               rocksdb_column_family_handle_t* family) {
  return NewHandle(db, options, [&](DB* d, const ReadOptions& o) {
    return family == nullptr ? varve::NewErrorIterator(NullArgument("family"))
                             : d->NewIterator(o, Family(family));
  });
}

void rocksdb_create_iterators(rocksdb_t* db, rocksdb_readoptions_t* options,
                              rocksdb_column_family_handle_t** families,
                              rocksdb_iterator_t** iterators, size_t num_families, char** errptr) {
  std::vector<std::unique_ptr<rocksdb_iterator_t>> handles;
  const bool made =
      varve::c::RunOnDb(db, options, errptr, [&](DB* d, const ReadOptions& o) -> Status {
        if (families == nullptr || iterators == nullptr) return NullArgument("families");
        std::vector<ColumnFamilyHandle*> all;
        for (size_t i = 0; i < num_families; ++i) {
          if (families[i] == nullptr) return NullArgument("family");
          all.push_back(Family(families[i]));
          // All handles are made before the iterators, which could not be given back if one of them
          // could not be made.
          handles.push_back(std::make_unique<rocksdb_iterator_t>());
          HoldOptions(handles.back().get(), options);
        }
        std::vector<Iterator*> reps;
        Status s = d->NewIterators(o, all, &reps);
        VARVE_ASSERT(!s.ok() || reps.size() == handles.size());
        for (size_t i = 0; s.ok() && i < reps.size(); ++i) handles[i]->rep.reset(reps[i]);
        return s;
      });
  for (size_t i = 0; made && i < num_families; ++i) iterators[i] = handles[i].release();
}

unsigned char rocksdb_iter_valid(const rocksdb_iterator_t* iter) {
  return iter != nullptr && iter->rep->Valid() ? 1 : 0;
}

void rocksdb_iter_seek_to_first(rocksdb_iterator_t* iter) {
  MoveWith(iter, [](Iterator* i) { i->SeekToFirst(); });
}

void rocksdb_iter_seek_to_last(rocksdb_iterator_t* iter) {
  MoveWith(iter, [](Iterator* i) { i->SeekToLast(); });
}

void rocksdb_iter_seek(rocksdb_iterator_t* iter, const char* key, size_t keylen) {
  MoveWith(iter, [&](Iterator* i) { i->Seek(Slice(key, keylen)); });
}

void rocksdb_iter_seek_for_prev(rocksdb_iterator_t* iter, const char* key, size_t keylen) {
  MoveWith(iter, [&](Iterator* i) { i->SeekForPrev(Slice(key, keylen)); });
}

void rocksdb_iter_next(rocksdb_iterator_t* iter) {
  MoveWith(iter, [](Iterator* i) { i->Next(); });
}

void rocksdb_iter_prev(rocksdb_iterator_t* iter) {
  MoveWith(iter, [](Iterator* i) { i->Prev(); });
}

const char* rocksdb_iter_key(const rocksdb_iterator_t* iter, size_t* keylen) {
  return Give(iter, keylen, [](const Iterator& i) { return i.key(); });
}

const char* rocksdb_iter_value(const rocksdb_iterator_t* iter, size_t* vallen) {
  return Give(iter, vallen, [&](const Iterator&) { return ValueOf(*iter); });
}

rocksdb_slice_t rocksdb_iter_key_slice(const rocksdb_iterator_t* iter) {
  return Give(iter, [](const Iterator& i) { return i.key(); });
}

rocksdb_slice_t rocksdb_iter_value_slice(const rocksdb_iterator_t* iter) {
  return Give(iter, [&](const Iterator&) { return ValueOf(*iter); });
}

const char* rocksdb_iter_timestamp(const rocksdb_iterator_t* iter, size_t* tslen) {
  return Give(iter, tslen, [](const Iterator& i) { return i.timestamp(); });
}

rocksdb_slice_t rocksdb_iter_timestamp_slice(const rocksdb_iterator_t* iter) {
  return Give(iter, [](const Iterator& i) { return i.timestamp(); });
}

void rocksdb_iter_get_error(const rocksdb_iterator_t* iter, char** errptr) {
  varve::c::Run(errptr,
                [&] { return iter == nullptr ? NullArgument("iter") : iter->rep->status(); });
}

void rocksdb_iter_refresh(const rocksdb_iterator_t* iter, char** errptr) {
  varve::c::Run(errptr,
                [&] { return iter == nullptr ? NullArgument("iter") : iter->rep->Refresh(); });
}

const rocksdb_snapshot_t* rocksdb_create_snapshot(rocksdb_t* db) {
  if (db == nullptr) return nullptr;
  return varve::c::Try([&]() -> const rocksdb_snapshot_t* {
    auto snapshot = std::make_unique<rocksdb_snapshot_t>();
    snapshot->rep = db->rep->GetSnapshot();
    return snapshot->rep == nullptr ? nullptr : snapshot.release();
  });
}

void rocksdb_release_snapshot(rocksdb_t* db, const rocksdb_snapshot_t* snapshot) {
  if (db == nullptr || snapshot == nullptr) return;
  TryVoid([&] { db->rep->ReleaseSnapshot(snapshot->rep); });
  delete snapshot;
}

uint64_t rocksdb_snapshot_get_sequence_number(const rocksdb_snapshot_t* snapshot) {
  return snapshot == nullptr ? 0 : snapshot->rep->GetSequenceNumber();
}
