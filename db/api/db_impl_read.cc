// SPDX-License-Identifier: Apache-2.0

// Implements reading: point look-ups and iterators over pinned super-versions.

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "db/api/db_impl.h"
#include "db/read/db_iterator.h"
#include "db/read/get.h"
#include "db/read/get_merge_operands.h"
#include "db/read/merge_read.h"
#include "db/read/multi_get.h"
#include "db/read/read_timestamp.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// True if there are timestamps to check.
bool HasTimestamps(const ReadOptions& options, const ColumnFamily& family) {
  return options.timestamp != nullptr || options.iter_start_ts != nullptr ||
         family.icmp().timestamp_size() != 0;
}

void CountBytesRead(Statistics* statistics, size_t bytes) {
  if (statistics == nullptr) return;
  RecordTick(statistics, BYTES_READ, bytes);
  RecordInHistogram(statistics, BYTES_PER_READ, bytes);
}

// Releases the super-versions that PinOneMoment has filled in.
struct Unpin {
  std::map<ColumnFamily*, SuperVersion*>* pinned;
  ~Unpin() {
    for (auto& [family, super_version] : *pinned) {
      if (super_version != nullptr) super_version->Unref();
    }
  }
};

}  // namespace

Status DbImpl::CheckReadOptions(const ReadOptions& options) const {
  if (options.snapshot != nullptr && !engine_->state.snapshots.Owns(options.snapshot)) {
    return Status::InvalidArgument("read: the snapshot is not held by this database");
  }
  return Status::OK();
}

SequenceNumber DbImpl::ReadSequence(const ReadOptions& options,
                                    const SuperVersion& super_version) const {
  if (options.snapshot != nullptr) return options.snapshot->GetSequenceNumber();
  return super_version.Limit(engine_->context.options().unordered_write
                                 ? engine_->state.commit->NewestSequence()
                                 : engine_->state.versions->last_sequence());
}

SequenceNumber DbImpl::StableReadSequence(const ReadOptions& options,
                                          const SuperVersion& super_version) const {
  if (options.snapshot != nullptr) return options.snapshot->GetSequenceNumber();
  engine_->state.commit->WaitUntilVisible();
  return super_version.Limit(engine_->state.versions->last_sequence());
}

SequenceNumber DbImpl::PinFollowed(std::map<ColumnFamily*, SuperVersion*>* pinned) {
  for (;;) {
    SequenceNumber least = kMaxSequenceNumber;
    SequenceNumber most = 0;
    for (auto& [family, super_version] : *pinned) {
      super_version = family->AcquireSuperVersion();
      least = std::min(least, super_version->sequence_limit());
      most = std::max(most, super_version->sequence_limit());
    }
    // The limits are equal, unless new ones were installed between two pins.
    if (least >= most) return std::min(most, engine_->state.versions->last_sequence());
    for (auto& [family, super_version] : *pinned) std::exchange(super_version, nullptr)->Unref();
  }
}

SequenceNumber DbImpl::PinOneMoment(const ReadOptions& options,
                                    std::map<ColumnFamily*, SuperVersion*>* pinned) {
  // A memtable that was switched after its family was pinned may hold writes that the sequence
  // covers, and other families' pins show the rest of their batches. Then all are pinned again, at
  // last below a snapshot: the entries that it covers are in every super-version pinned while it is
  // held.
  constexpr int kTries = 3;
  // An existing pin would be lost.
  VARVE_ASSERT(std::ranges::all_of(*pinned, [](const auto& pin) { return pin.second == nullptr; }));
  if (engine_->context.follows() && options.snapshot == nullptr) return PinFollowed(pinned);
  const Snapshot* held = nullptr;
  for (int tries = 1;; tries++) {
    if (tries > kTries && options.snapshot == nullptr) held = GetSnapshot();
    const uint64_t rounds = engine_->state.ingest_windows.Rounds();
    for (auto& [family, super_version] : *pinned)
      super_version = family->AcquireAt(options.snapshot);
    const SequenceNumber seq = held != nullptr || pinned->empty()
                                   ? (held != nullptr ? held->GetSequenceNumber() : 0)
                                   : StableReadSequence(options, *pinned->begin()->second);
    ReleaseSnapshot(held);
    const bool half_ingested = rounds % 2 != 0 || rounds != engine_->state.ingest_windows.Rounds();
    const bool one_moment =
        !half_ingested && std::all_of(pinned->begin(), pinned->end(), [](const auto& pin) {
          return pin.first->SuperVersionNumber() == pin.second->number();
        });
    if (one_moment || tries > kTries || options.snapshot != nullptr || pinned->size() < 2) {
      return seq;
    }
    for (auto& [family, super_version] : *pinned) std::exchange(super_version, nullptr)->Unref();
  }
}

bool DbImpl::SkipsMemTables(const ReadOptions& options) const {
  return options.read_tier == kPersistedTier && engine_->log_gate.has_unlogged();
}

Status DbImpl::GetOne(const ReadOptions& options, const SuperVersion& super_version,
                      SequenceNumber seq, const Slice& key, PinnableSlice* value,
                      std::string* timestamp) const {
  VARVE_ASSERT(value != nullptr);
  PointLookup lookup(key, seq, value, &super_version.merger(), AsOf(options, super_version));
  lookup.ReportTimestamp(timestamp);
  VARVE_RETURN_IF_ERROR(GetFromSuperVersion(
      options, super_version, &lookup, engine_->context.statistics(), SkipsMemTables(options)));
  RecordTick(engine_->context.statistics(), NUMBER_KEYS_READ);
  if (lookup.state() != PointLookup::State::kFound) {
    if (lookup.operands() == nullptr) return Status::NotFound();
    // The status is returned as it is, as an OK may have a subcode.
    Status s = MergeForRead(options, super_version, &lookup, value, engine_->context.statistics());
    if (s.ok()) CountBytesRead(engine_->context.statistics(), value->size());
    return s;
  }
  VARVE_ASSERT(lookup.found_seq() <= seq);
  CountBytesRead(engine_->context.statistics(), value->size());
  return Status::OK();
}

Status DbImpl::Get(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   PinnableSlice* value, std::string* timestamp) try {
  if (value == nullptr) return Status::InvalidArgument("get: the place for the value is null");
  value->Reset();
  if (engine_->lifecycle.closed()) [[unlikely]]
    return CheckOpen();
  if (options.snapshot != nullptr) VARVE_RETURN_IF_ERROR(CheckReadOptions(options));
  Status s;
  ColumnFamily* const family = engine_->state.Resolve(handle, &s);
  if (family == nullptr) return s;
  if (timestamp != nullptr) timestamp->clear();
  StopWatch watch(engine_->context.clock(), engine_->context.statistics(), DB_GET);
  ReadGuard super_version(family, options.snapshot);
  if (HasTimestamps(options, *family)) [[unlikely]] {
    VARVE_RETURN_IF_ERROR(CheckReadTimestamp(options, *super_version, family->name()));
  }
  // The sequence is read after the super-version, which thus has all entries visible at it.
  return GetOne(options, *super_version, ReadSequence(options, *super_version), key, value,
                timestamp);
} catch (...) {
  return CaughtException();
}

Status DbImpl::GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* handle,
                                const Slice& key, PinnableSlice* operands,
                                GetMergeOperandsOptions* operand_options,
                                int* number_of_operands) try {
  if (operands == nullptr || operand_options == nullptr || number_of_operands == nullptr) {
    return Status::InvalidArgument("GetMergeOperands: a pointer is null");
  }
  if (operand_options->expected_max_number_of_operands <= 0) {
    return Status::InvalidArgument(
        "GetMergeOperands: expected_max_number_of_operands must be positive");
  }
  const std::span<PinnableSlice> slices(
      operands, static_cast<size_t>(operand_options->expected_max_number_of_operands));
  for (PinnableSlice& slice : slices) slice.Reset();
  Status s = CheckOpen();
  if (s.ok()) s = CheckReadOptions(options);
  ColumnFamily* const family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  if (family == nullptr) return s;
  const ReadGuard super_version(family, options.snapshot);
  s = CheckReadTimestamp(options, *super_version, family->name());
  if (!s.ok()) return s;
  OperandRequest request{key, ReadSequence(options, *super_version),
                         engine_->state.versions->last_sequence()};
  if (operand_options->continue_cb) request.continue_callback = &operand_options->continue_cb;
  request.skip_memtables = SkipsMemTables(options);
  return GetOperandsFromSuperVersion(options, *super_version, request, slices, number_of_operands);
} catch (...) {
  return CaughtException();
}

MultiGetCall DbImpl::StartMultiGet(const ReadOptions& options, const KeyBatch& batch) const {
  for (size_t i = 0; i < batch.n; i++) batch.values[i].Reset();
  if (batch.timestamps != nullptr) {
    for (size_t i = 0; i < batch.n; i++) batch.timestamps[i].clear();
  }
  return {.options = options,
          .keys = batch.keys,
          .values = batch.values,
          .statuses = batch.statuses,
          .timestamps = batch.timestamps,
          .statistics = engine_->context.statistics(),
          .clock = engine_->context.clock(),
          .skip_memtables = SkipsMemTables(options)};
}

void DbImpl::CountMultiGet(const MultiGetCall& call, size_t n) const {
  VARVE_ASSERT(call.found <= n);
  AddPerfCount<&PerfContext::multiget_read_bytes>(call.value_bytes);
  if (call.statistics == nullptr) return;
  RecordTick(call.statistics, NUMBER_MULTIGET_CALLS);
  RecordTick(call.statistics, NUMBER_MULTIGET_KEYS_READ, n);
  RecordTick(call.statistics, NUMBER_MULTIGET_KEYS_FOUND, call.found);
  RecordTick(call.statistics, NUMBER_MULTIGET_BYTES_READ, call.value_bytes);
  RecordInHistogram(call.statistics, BYTES_PER_MULTIGET, call.value_bytes);
}

void DbImpl::MultiGet(const ReadOptions& options, size_t n, ColumnFamilyHandle** handles,
                      const Slice* keys, PinnableSlice* values, std::string* timestamps,
                      Status* statuses, bool sorted_input) try {
  if (n == 0) return;
  if (std::all_of(handles, handles + n, [&](const auto* h) { return h == handles[0]; })) {
    return MultiGet(options, handles[0], n, keys, values, timestamps, statuses, sorted_input);
  }
  MultiGetCall call = StartMultiGet(options, {n, keys, values, timestamps, statuses});
  Status s = CheckOpen();
  if (s.ok()) s = CheckReadOptions(options);
  if (!s.ok()) {
    std::fill_n(statuses, n, s);
    return;
  }
  const StopWatch watch(engine_->context.clock(), engine_->context.statistics(), DB_MULTIGET);
  std::map<ColumnFamily*, std::vector<uint32_t>> places;
  std::map<ColumnFamily*, SuperVersion*> pinned;
  for (size_t i = 0; i < n; i++) {
    ColumnFamily* const family = engine_->state.Resolve(handles[i], &statuses[i]);
    if (family == nullptr) continue;
    places[family].push_back(static_cast<uint32_t>(i));
    pinned[family] = nullptr;
  }
  VARVE_ASSERT(places.size() == pinned.size());
  const Unpin unpin{&pinned};
  const SequenceNumber seq = PinOneMoment(options, &pinned);
  // The limit of bytes is spent in the order of ids.
  std::vector<std::pair<ColumnFamily*, SuperVersion*>> families(pinned.begin(), pinned.end());
  std::sort(families.begin(), families.end(),
            [](const auto& a, const auto& b) { return a.first->id() < b.first->id(); });
  for (const auto& [family, super_version] : families) {
    if (const Status checked = CheckReadTimestamp(options, *super_version, family->name());
        !checked.ok()) {
      for (const uint32_t place : places[family]) statuses[place] = checked;
      continue;
    }
    MultiGetFromSuperVersion(&call, *super_version, seq, places[family]);
  }
  CountMultiGet(call, n);
} catch (...) {
  std::fill_n(statuses, n, CaughtException());
}

void DbImpl::MultiGet(const ReadOptions& options, ColumnFamilyHandle* handle, size_t n,
                      const Slice* keys, PinnableSlice* values, std::string* timestamps,
                      Status* statuses, bool /*sorted_input*/) try {
  MultiGetCall call = StartMultiGet(options, {n, keys, values, timestamps, statuses});
  Status s = CheckOpen();
  if (s.ok()) s = CheckReadOptions(options);
  ColumnFamily* const family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  if (family == nullptr) {
    std::fill_n(statuses, n, s);
    return;
  }
  const StopWatch watch(engine_->context.clock(), engine_->context.statistics(), DB_MULTIGET);
  constexpr size_t kInlinePlaces = 64;
  std::array<uint32_t, kInlinePlaces> inline_places;
  std::vector<uint32_t> many(n > kInlinePlaces ? n : 0);
  const std::span<uint32_t> places(many.empty() ? inline_places.data() : many.data(), n);
  std::iota(places.begin(), places.end(), uint32_t{0});
  {
    const ReadGuard super_version(family, options.snapshot);
    if (HasTimestamps(options, *family)) {
      s = CheckReadTimestamp(options, *super_version, family->name());
      if (!s.ok()) {
        std::fill_n(statuses, n, s);
        return;
      }
    }
    MultiGetFromSuperVersion(&call, *super_version, StableReadSequence(options, *super_version),
                             places);
  }
  CountMultiGet(call, n);
} catch (...) {
  std::fill_n(statuses, n, CaughtException());
}

bool DbImpl::KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                         std::string* value, std::string* timestamp, bool* value_found) try {
  if (value_found != nullptr) *value_found = false;
  if (timestamp != nullptr) timestamp->clear();
  Status s = CheckOpen();
  if (s.ok()) s = CheckReadOptions(options);
  ColumnFamily* family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  if (family == nullptr) return true;
  ReadGuard super_version(family, options.snapshot);
  // The key may exist if that is unknown.
  if (!CheckReadTimestamp(options, *super_version, family->name()).ok()) return true;
  PinnableSlice found_value;
  PinnableSlice* const wanted = value != nullptr ? &found_value : nullptr;
  PointLookup lookup(key, ReadSequence(options, *super_version), wanted, &super_version->merger(),
                     AsOf(options, *super_version));
  lookup.ReportTimestamp(timestamp);
  bool found = false;
  const bool may_exist =
      KeyMayExistInSuperVersion(options, *super_version, &lookup, wanted, &found);
  VARVE_ASSERT(may_exist || !found);
  if (found && value != nullptr) {
    value->assign(found_value.data(), found_value.size());
    if (value_found != nullptr) *value_found = true;
  }
  return may_exist;
} catch (...) {
  return true;
}

Iterator* DbImpl::NewIterator(const ReadOptions& options, ColumnFamilyHandle* handle) try {
  Status s = CheckOpen();
  if (s.ok()) s = CheckReadOptions(options);
  ColumnFamily* family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  if (family == nullptr) return NewErrorIterator(s);
  SuperVersion* super_version = family->AcquireAt(options.snapshot);
  s = Guarded([&] { return CheckReadTimestamp(options, *super_version, family->name()); });
  if (!s.ok()) {
    super_version->Unref();
    return NewErrorIterator(s);
  }
  return NewDbIterator(options, family->shared_from_this(), super_version,
                       StableReadSequence(options, *super_version), engine_->context.statistics());
} catch (...) {
  return NewErrorIterator(CaughtException());
}

Status DbImpl::NewIterators(const ReadOptions& options,
                            const std::vector<ColumnFamilyHandle*>& handles,
                            std::vector<Iterator*>* iterators) try {
  if (iterators == nullptr) return Status::InvalidArgument("NewIterators: iterators is null");
  iterators->clear();
  iterators->reserve(handles.size());
  Status s = CheckOpen();
  if (s.ok()) s = CheckReadOptions(options);
  std::vector<ColumnFamily*> families;
  if (s.ok()) s = ResolveAll(handles, &families);
  if (!s.ok()) return s;
  std::map<ColumnFamily*, SuperVersion*> pinned;
  for (ColumnFamily* family : families) pinned[family] = nullptr;
  const Unpin unpin{&pinned};
  const SequenceNumber seq = PinOneMoment(options, &pinned);
  for (ColumnFamily* family : families) {
    s = CheckReadTimestamp(options, *pinned[family], family->name());
    if (!s.ok()) return s;
  }
  for (ColumnFamily* family : families) {
    pinned[family]->Ref();
    iterators->push_back(NewDbIterator(options, family->shared_from_this(), pinned[family], seq,
                                       engine_->context.statistics()));
  }
  VARVE_ASSERT(iterators->size() == handles.size());
  return s;
} catch (...) {
  const Status s = CaughtException();
  if (iterators == nullptr) return s;
  for (Iterator* iterator : *iterators) delete iterator;
  iterators->clear();
  return s;
}

}  // namespace varve
