// SPDX-License-Identifier: Apache-2.0

// Reading: point look-ups and iterators over what a super-version pins.

#include <algorithm>
#include <map>

#include "db/api/db_impl.h"
#include "db/read/db_iterator.h"
#include "db/read/get.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"

namespace varve {

Status DbImpl::CheckReadOptions(const ReadOptions& options) const {
  if (options.timestamp != nullptr || options.iter_start_ts != nullptr) {
    return Status::InvalidArgument("read: a timestamp was given, the column family has none");
  }
  if (options.snapshot != nullptr && !engine_->snapshots.Owns(options.snapshot)) {
    return Status::InvalidArgument("read: the snapshot is not held by this database");
  }
  return Status::OK();
}

SequenceNumber DbImpl::ReadSequence(const ReadOptions& options) const {
  if (options.snapshot != nullptr) return options.snapshot->GetSequenceNumber();
  return engine_->options.unordered_write ? engine_->commit->NewestSequence()
                                          : engine_->versions->last_sequence();
}

SequenceNumber DbImpl::StableReadSequence(const ReadOptions& options) const {
  if (options.snapshot != nullptr) return options.snapshot->GetSequenceNumber();
  engine_->commit->WaitUntilVisible();
  return engine_->versions->last_sequence();
}

SequenceNumber DbImpl::PinOneMoment(const ReadOptions& options,
                                    std::map<ColumnFamily*, SuperVersion*>* pinned) {
  // A memtable that was switched after its family was pinned may hold writes that the sequence
  // covers, and other families' pins show the rest of their batches. Then all is pinned again, at
  // last below a snapshot: what it covers is in every super-version pinned while it is held.
  constexpr int kTries = 3;
  const Snapshot* held = nullptr;
  for (int tries = 1;; tries++) {
    if (tries > kTries && options.snapshot == nullptr) held = GetSnapshot();
    for (auto& [family, super_version] : *pinned) super_version = family->AcquireSuperVersion();
    const SequenceNumber seq =
        held != nullptr ? held->GetSequenceNumber() : StableReadSequence(options);
    ReleaseSnapshot(held);
    const bool one_moment = std::all_of(pinned->begin(), pinned->end(), [](const auto& pin) {
      return pin.first->SuperVersionNumber() == pin.second->number();
    });
    if (one_moment || tries > kTries || options.snapshot != nullptr || pinned->size() < 2) {
      return seq;
    }
    for (auto& [family, super_version] : *pinned) super_version->Unref();
  }
}

Status DbImpl::GetOne(const ReadOptions& options, const SuperVersion& super_version,
                      SequenceNumber seq, const Slice& key, PinnableSlice* value) const {
  PointLookup lookup(key, seq, value);
  const bool skip_memtables = options.read_tier == kPersistedTier &&
                              engine_->has_unlogged_data.load(std::memory_order_acquire);
  Status s =
      GetFromSuperVersion(options, super_version, &lookup, engine_->statistics, skip_memtables);
  if (!s.ok()) return s;
  RecordTick(engine_->statistics, NUMBER_KEYS_READ);
  if (lookup.state() != PointLookup::State::kFound) return Status::NotFound();
  if (engine_->statistics != nullptr) {
    RecordTick(engine_->statistics, BYTES_READ, value->size());
    RecordInHistogram(engine_->statistics, BYTES_PER_READ, value->size());
  }
  return s;
}

Status DbImpl::Get(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   PinnableSlice* value, std::string* timestamp) {
  if (value == nullptr) return Status::InvalidArgument("get: the place for the value is null");
  value->Reset();
  Status s = CheckOpen();
  if (s.ok() && (options.snapshot != nullptr || options.timestamp != nullptr)) {
    s = CheckReadOptions(options);
  }
  ColumnFamily* family = s.ok() ? engine_->Resolve(handle, &s) : nullptr;
  if (family == nullptr) return s;
  if (timestamp != nullptr) timestamp->clear();
  StopWatch watch(engine_->clock, engine_->statistics, DB_GET);
  ReadGuard super_version(family);
  // The sequence is read after the super-version: what is visible at it is in there.
  return GetOne(options, *super_version, ReadSequence(options), key, value);
}

Status DbImpl::GetMergeOperands(const ReadOptions&, ColumnFamilyHandle*, const Slice&,
                                PinnableSlice*, GetMergeOperandsOptions*, int*) {
  return Status::NotSupported("GetMergeOperands: merge_operator is not supported by this version");
}

void DbImpl::MultiGet(const ReadOptions& options, size_t n, ColumnFamilyHandle** handles,
                      const Slice* keys, PinnableSlice* values, std::string* timestamps,
                      Status* statuses, bool /*sorted_input*/) {
  Status s = CheckOpen();
  if (s.ok()) s = CheckReadOptions(options);
  std::vector<ColumnFamily*> families(n, nullptr);
  std::map<ColumnFamily*, SuperVersion*> pinned;
  SequenceNumber seq = 0;
  if (s.ok()) {
    for (size_t i = 0; i < n; i++) {
      families[i] = engine_->Resolve(handles[i], &statuses[i]);
      if (families[i] != nullptr) pinned[families[i]] = nullptr;
    }
    seq = PinOneMoment(options, &pinned);
  }
  uint64_t bytes = 0;
  for (size_t i = 0; i < n; i++) {
    values[i].Reset();
    if (timestamps != nullptr) timestamps[i].clear();
    if (!s.ok()) {
      statuses[i] = s;
    } else if (families[i] != nullptr) {
      if (i > 0 && bytes > options.value_size_soft_limit) {
        statuses[i] = Status::Aborted("MultiGet: value_size_soft_limit was reached");
        continue;
      }
      statuses[i] = GetOne(options, *pinned[families[i]], seq, keys[i], &values[i]);
      if (statuses[i].ok()) bytes += values[i].size();
    }
  }
  for (auto& [family, super_version] : pinned) {
    if (super_version != nullptr) super_version->Unref();
  }
  RecordTick(engine_->statistics, NUMBER_MULTIGET_CALLS);
  RecordTick(engine_->statistics, NUMBER_MULTIGET_KEYS_READ, n);
  RecordTick(engine_->statistics, NUMBER_MULTIGET_BYTES_READ, bytes);
}

void DbImpl::MultiGet(const ReadOptions& options, ColumnFamilyHandle* handle, size_t n,
                      const Slice* keys, PinnableSlice* values, std::string* timestamps,
                      Status* statuses, bool sorted_input) {
  std::vector<ColumnFamilyHandle*> handles(n, handle);
  MultiGet(options, n, handles.data(), keys, values, timestamps, statuses, sorted_input);
}

bool DbImpl::KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                         std::string* value, std::string* timestamp, bool* value_found) {
  if (value_found != nullptr) *value_found = false;
  if (timestamp != nullptr) timestamp->clear();
  Status s = CheckOpen();
  if (s.ok()) s = CheckReadOptions(options);
  ColumnFamily* family = s.ok() ? engine_->Resolve(handle, &s) : nullptr;
  if (family == nullptr) return true;
  ReadGuard super_version(family);
  PinnableSlice found_value;
  PointLookup lookup(key, ReadSequence(options), value != nullptr ? &found_value : nullptr);
  bool found = false;
  const bool may_exist = KeyMayExistInSuperVersion(options, *super_version, &lookup, &found);
  if (found && value != nullptr) {
    value->assign(found_value.data(), found_value.size());
    if (value_found != nullptr) *value_found = true;
  }
  return may_exist;
}

Iterator* DbImpl::NewIterator(const ReadOptions& options, ColumnFamilyHandle* handle) {
  Status s = CheckOpen();
  if (s.ok()) s = CheckReadOptions(options);
  ColumnFamily* family = s.ok() ? engine_->Resolve(handle, &s) : nullptr;
  if (family == nullptr) return NewErrorIterator(s);
  SuperVersion* super_version = family->AcquireSuperVersion();
  return NewDbIterator(options, family->shared_from_this(), super_version,
                       StableReadSequence(options), engine_->statistics);
}

Status DbImpl::NewIterators(const ReadOptions& options,
                            const std::vector<ColumnFamilyHandle*>& handles,
                            std::vector<Iterator*>* iterators) {
  if (iterators == nullptr) return Status::InvalidArgument("NewIterators: iterators is null");
  iterators->clear();
  Status s = CheckOpen();
  if (s.ok()) s = CheckReadOptions(options);
  std::vector<ColumnFamily*> families;
  if (s.ok()) s = ResolveAll(handles, &families);
  if (!s.ok()) return s;
  std::map<ColumnFamily*, SuperVersion*> pinned;
  for (ColumnFamily* family : families) pinned[family] = nullptr;
  const SequenceNumber seq = PinOneMoment(options, &pinned);
  for (ColumnFamily* family : families) {
    pinned[family]->Ref();
    iterators->push_back(NewDbIterator(options, family->shared_from_this(), pinned[family], seq,
                                       engine_->statistics));
  }
  for (auto& [family, super_version] : pinned) super_version->Unref();
  return s;
}

}  // namespace varve
