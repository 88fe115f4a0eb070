// SPDX-License-Identifier: Apache-2.0

// Implements reading: point look-ups and iterators over pinned super-versions.
//
// A read needs a super-version and a sequence number, and pins the one before it reads the other:
//
//      pin, then number    what is pinned has every entry that was written before the pin; later
//                          ones may be in a newer memtable: they were written during the call, and
//                          the read shows the moment before them.
//      number, then pin    would be wrong: a compaction in between may replace the value that the
//                          number shows by a newer one that it does not show, and the key is gone.
//
// With a snapshot the number is fixed, and the order does not matter, because compactions keep what
// it shows.
//
//      one key             ReadSequence, the newest number, even if insertions below it run
//      many keys, scans    StableReadSequence, which waits for these
//      many families       PinOneMoment, whose pins also agree on one moment
//
// Get has no OpenCall and takes no lock: a super-version stays readable after Close, and the check
// of closed() only gives later calls an error.

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "db/api/db_impl.h"
#include "db/read/blob_read.h"
#include "db/read/db_iterator.h"
#include "db/read/family_iterators.h"
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

// True if the options have timestamps, or the family's keys do, so that CheckReadTimestamp is
// needed.
bool HasTimestamps(const ReadOptions& options, const ColumnFamily& family) {
  return options.timestamp != nullptr || options.iter_start_ts != nullptr ||
         family.icmp().timestamp_size() != 0;
}

void CountBytesRead(Statistics* statistics, size_t bytes) {
  if (statistics == nullptr) return;
  RecordTick(statistics, BYTES_READ, bytes);
  RecordInHistogram(statistics, BYTES_PER_READ, bytes);
}

// Moves a value that was read into *columns: the columns of an entity, or a plain value as the
// default column. Corruption if the entity is damaged.
Status ShowColumns(const Slice& key, ValueForm form, PinnableSlice* value,
                   PinnableWideColumns* columns) {
  if (form == ValueForm::kPlain) {
    columns->SetPlainValue(std::move(*value));
    return Status::OK();
  }
  const Status s = columns->SetWideColumnValue(std::move(*value));
  return s.ok() ? s : Status::CopyAppendMessage(s, "; ", "of key " + key.ToString(/*hex=*/true));
}

// Does ShowColumns for one key of many: without columns if *status is an error, which stays;
// otherwise *status becomes the error of ShowColumns, if any.
void ShowResult(const Slice& key, ValueForm form, PinnableSlice* value,
                PinnableWideColumns* columns, Status* status) {
  columns->Reset();
  if (!status->ok()) return;
  if (const Status s = ShowColumns(key, form, value, columns); !s.ok()) *status = s;
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
    // An installation sets one limit for all families in one hold of the mutex
    // (Secondary::Install). Pins with one limit are therefore of one moment.
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
  // A family may switch its memtable after it was pinned. The new memtable may then hold writes
  // that the sequence number covers, while the pins of other families show the rest of their
  // batches. In that case all are pinned again. After kTries attempts a snapshot is held meanwhile:
  // the entries that it covers are in every super-version that is pinned while it is held.
  constexpr int kTries = 3;
  // An existing pin would be lost.
  VARVE_ASSERT(std::ranges::all_of(*pinned, [](const auto& pin) { return pin.second == nullptr; }));
  if (engine_->context.follows() && options.snapshot == nullptr) return PinFollowed(pinned);
  const Snapshot* held = nullptr;
  for (int tries = 1;; tries++) {
    if (tries > kTries && options.snapshot == nullptr) held = GetSnapshot();
    // The counter of ingestions is odd while the tables of one become visible, family by family. It
    // is read before the pins and compared after them: if it was odd, or has grown, some of the
    // pinned families may show their ingested tables and some not yet.
    const uint64_t rounds = engine_->state.ingest_windows.Rounds();
    for (auto& [family, super_version] : *pinned)
      super_version = family->AcquireAt(options.snapshot);
    // A snapshot of the caller fixes the number as well: StableReadSequence returns it.
    const SequenceNumber seq = held != nullptr || pinned->empty()
                                   ? (held != nullptr ? held->GetSequenceNumber() : 0)
                                   : StableReadSequence(options, *pinned->begin()->second);
    // The pins exist, so the snapshot that kept its entries in the tree is not needed any more.
    ReleaseSnapshot(held);
    const bool half_ingested = rounds % 2 != 0 || rounds != engine_->state.ingest_windows.Rounds();
    // A pin is of this moment if its family has installed nothing since. Then every entry up to the
    // number was in the memtables that are pinned.
    const bool one_moment =
        !half_ingested && std::all_of(pinned->begin(), pinned->end(), [](const auto& pin) {
          return pin.first->SuperVersionNumber() == pin.second->number();
        });
    // A single family needs no agreement with others. A snapshot of the caller needs none either:
    // all of its entries are in whatever is pinned while it is held.
    if (one_moment || tries > kTries || options.snapshot != nullptr || pinned->size() < 2) {
      return seq;
    }
    for (auto& [family, super_version] : *pinned) std::exchange(super_version, nullptr)->Unref();
  }
}

bool DbImpl::SkipsMemTables(const ReadOptions& options) const {
  // Such a read wants only what survives a crash. As long as every write was logged, memtables
  // survive by their logs; after one write without a log it is unknown which entries do.
  return options.read_tier == kPersistedTier && engine_->log_gate.has_unlogged();
}

// Is inlined into Get and GetEntity, so that Get, the hottest call, pays for no call here.
[[gnu::always_inline]] inline Status DbImpl::GetOne(const ReadOptions& options,
                                                    const SuperVersion& super_version,
                                                    PointLookup* lookup,
                                                    PinnableSlice* value) const {
  VARVE_ASSERT(value != nullptr);
  VARVE_RETURN_IF_ERROR(GetFromSuperVersion(
      options, super_version, lookup, engine_->context.statistics(), SkipsMemTables(options)));
  RecordTick(engine_->context.statistics(), NUMBER_KEYS_READ);
  // A search that has found no value in place has found a reference to a blob file, operands whose
  // base was deleted or is missing, or nothing.
  if (lookup->state() != PointLookup::State::kFound) {
    if (lookup->state() == PointLookup::State::kReference) {
      VARVE_RETURN_IF_ERROR(ReadReference(options, super_version, *lookup, value));
      CountBytesRead(engine_->context.statistics(), value->size());
      return Status::OK();
    }
    if (lookup->operands() == nullptr) return Status::NotFound();
    // The status is returned as it is, as an OK may have a subcode.
    Status s = MergeForRead(options, super_version, lookup, value, engine_->context.statistics());
    if (s.ok()) CountBytesRead(engine_->context.statistics(), value->size());
    return s;
  }
  VARVE_ASSERT(lookup->found_seq() <= lookup->snapshot());
  CountBytesRead(engine_->context.statistics(), value->size());
  return Status::OK();
}

Status DbImpl::Get(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   PinnableSlice* value, std::string* timestamp) try {
  if (value == nullptr) return Status::InvalidArgument("get: the place for the value is null");
  value->Reset();
  // The checks are spelled out here and not called, as CheckOpen and CheckReadOptions return a
  // Status each time, and this is the hottest call.
  if (engine_->lifecycle.closed()) [[unlikely]]
    return CheckOpen();
  if (options.snapshot != nullptr) VARVE_RETURN_IF_ERROR(CheckReadOptions(options));
  Status s;
  ColumnFamily* const family = engine_->state.Resolve(handle, &s);
  if (family == nullptr) return s;
  if (timestamp != nullptr) timestamp->clear();
  if (engine_->trace.on()) [[unlikely]]
    engine_->trace.NoteGet(family->id(), key);
  StopWatch watch(engine_->context.clock(), engine_->context.statistics(), DB_GET);
  ReadGuard super_version(family, options.snapshot);
  if (HasTimestamps(options, *family)) [[unlikely]] {
    VARVE_RETURN_IF_ERROR(CheckReadTimestamp(options, *super_version, family->name()));
  }
  // The number is read after the super-version is pinned (see the head of the file).
  PointLookup lookup(key, ReadSequence(options, *super_version), value, &super_version->merger(),
                     AsOf(options, *super_version));
  lookup.ReportTimestamp(timestamp);
  return GetOne(options, *super_version, &lookup, value);
} catch (...) {
  return CaughtException();
}

Status DbImpl::GetEntity(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                         PinnableWideColumns* columns) try {
  if (columns == nullptr) return Status::InvalidArgument("GetEntity: columns is null");
  columns->Reset();
  Status s = CheckOpen();
  if (s.ok()) s = CheckReadOptions(options);
  ColumnFamily* const family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  if (family == nullptr) return s;
  // Traces have one kind of record for all reads of one key; a replay asks for the plain value.
  if (engine_->trace.on()) engine_->trace.NoteGet(family->id(), key);
  const StopWatch watch(engine_->context.clock(), engine_->context.statistics(), DB_GET);
  const ReadGuard super_version(family, options.snapshot);
  VARVE_RETURN_IF_ERROR(CheckReadTimestamp(options, *super_version, family->name()));
  PinnableSlice value;
  PointLookup lookup(key, ReadSequence(options, *super_version), &value, &super_version->merger(),
                     AsOf(options, *super_version));
  lookup.WantEntity();
  // The status of the read is kept when the columns can be shown, as an OK may have a subcode.
  s = GetOne(options, *super_version, &lookup, &value);
  if (!s.ok()) return s;
  const Status shown = ShowColumns(key, lookup.form(), &value, columns);
  if (shown.ok()) return s;
  // The entity is damaged. A plain read of the key meets the damage while it still has the table,
  // so its error names the file.
  PinnableSlice ignored;
  PointLookup plain(key, ReadSequence(options, *super_version), &ignored, &super_version->merger(),
                    AsOf(options, *super_version));
  const Status placed = GetOne(options, *super_version, &plain, &ignored);
  return placed.ok() ? shown : placed;
} catch (...) {
  return CaughtException();
}

Status DbImpl::GetEntity(const ReadOptions& options, const Slice& key,
                         PinnableAttributeGroups* result) {
  if (result == nullptr) return Status::InvalidArgument("GetEntity: result is null");
  // Each group of the result has a status of its own; the call as a whole fails only if the
  // database is closed.
  MultiGetEntity(options, 1, &key, result);
  return CheckOpen();
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
  // All places are emptied before any check, so that an error leaves no operands of an earlier call
  // there.
  for (PinnableSlice& slice : slices) slice.Reset();
  Status s = CheckOpen();
  if (s.ok()) s = CheckReadOptions(options);
  ColumnFamily* const family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  if (family == nullptr) return s;
  if (engine_->trace.on()) engine_->trace.NoteGet(family->id(), key);
  const ReadGuard super_version(family, options.snapshot);
  s = CheckReadTimestamp(options, *super_version, family->name());
  if (!s.ok()) return s;
  // The request has the newest visible number, too: with unordered writes the number of the read
  // may be above it, where insertions may still be under way.
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
          .forms = batch.forms,
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
                      Status* statuses, bool /*sorted_input*/) {
  MultiGetOf(options, handles, {n, keys, values, timestamps, statuses});
}

void DbImpl::MultiGetOf(const ReadOptions& options, ColumnFamilyHandle** handles,
                        const KeyBatch& batch) try {
  const size_t n = batch.n;
  Status* const statuses = batch.statuses;
  if (n == 0) return;
  // Keys that are all of one family need no agreement between families, and the form for one family
  // is cheaper.
  if (std::all_of(handles, handles + n, [&](const auto* h) { return h == handles[0]; })) {
    return MultiGetOf(options, handles[0], batch);
  }
  MultiGetCall call = StartMultiGet(options, batch);
  Status s = CheckOpen();
  if (s.ok()) s = CheckReadOptions(options);
  if (!s.ok()) {
    std::fill_n(statuses, n, s);
    return;
  }
  if (engine_->trace.on()) TraceMultiGet(handles, batch);
  const StopWatch watch(engine_->context.clock(), engine_->context.statistics(), DB_MULTIGET);
  // Keys of a wrong handle get their error here, and the others are read all the same. places[f]
  // has the indexes of f's keys in the caller's arrays.
  std::map<ColumnFamily*, std::vector<uint32_t>> places;
  std::map<ColumnFamily*, SuperVersion*> pinned;
  for (size_t i = 0; i < n; i++) {
    ColumnFamily* const family = engine_->state.Resolve(handles[i], &statuses[i]);
    if (family == nullptr) continue;
    places[family].push_back(static_cast<uint32_t>(i));
    pinned[family] = nullptr;
  }
  VARVE_ASSERT(places.size() == pinned.size());
  // The guard is made before the pins: if one of them throws, those made so far are released.
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
  std::fill_n(batch.statuses, batch.n, CaughtException());
}

void DbImpl::MultiGet(const ReadOptions& options, ColumnFamilyHandle* handle, size_t n,
                      const Slice* keys, PinnableSlice* values, std::string* timestamps,
                      Status* statuses, bool /*sorted_input*/) {
  MultiGetOf(options, handle, {n, keys, values, timestamps, statuses});
}

void DbImpl::MultiGetOf(const ReadOptions& options, ColumnFamilyHandle* handle,
                        const KeyBatch& batch) try {
  const size_t n = batch.n;
  Status* const statuses = batch.statuses;
  MultiGetCall call = StartMultiGet(options, batch);
  Status s = CheckOpen();
  if (s.ok()) s = CheckReadOptions(options);
  ColumnFamily* const family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  if (family == nullptr) {
    std::fill_n(statuses, n, s);
    return;
  }
  if (engine_->trace.on()) [[unlikely]]
    TraceMultiGet(*family, batch);
  const StopWatch watch(engine_->context.clock(), engine_->context.statistics(), DB_MULTIGET);
  // The places of up to 64 keys need no allocation, which would cost as much as a read from memory.
  constexpr size_t kInlinePlaces = 64;
  std::array<uint32_t, kInlinePlaces> inline_places;
  std::vector<uint32_t> many(n > kInlinePlaces ? n : 0);
  const std::span<uint32_t> places(many.empty() ? inline_places.data() : many.data(), n);
  std::iota(places.begin(), places.end(), uint32_t{0});
  {
    // The super-version is pinned before the number is read (see the head of the file), and
    // released before the counting.
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
  std::fill_n(batch.statuses, batch.n, CaughtException());
}

void DbImpl::MultiGetEntity(const ReadOptions& options, ColumnFamilyHandle* handle, size_t n,
                            const Slice* keys, PinnableWideColumns* results, Status* statuses,
                            bool /*sorted_input*/) try {
  // Entities are read in their stored form, like plain values, and split into columns afterwards:
  // the walk over files is the same for both.
  std::vector<PinnableSlice> values(n);
  std::vector<ValueForm> forms(n);
  MultiGetOf(options, handle, {n, keys, values.data(), nullptr, statuses, forms.data()});
  for (size_t i = 0; i < n; i++)
    ShowResult(keys[i], forms[i], &values[i], &results[i], &statuses[i]);
} catch (...) {
  std::fill_n(statuses, n, CaughtException());
}

void DbImpl::MultiGetEntity(const ReadOptions& options, size_t n, ColumnFamilyHandle** handles,
                            const Slice* keys, PinnableWideColumns* results, Status* statuses,
                            bool /*sorted_input*/) try {
  std::vector<PinnableSlice> values(n);
  std::vector<ValueForm> forms(n);
  MultiGetOf(options, handles, {n, keys, values.data(), nullptr, statuses, forms.data()});
  for (size_t i = 0; i < n; i++)
    ShowResult(keys[i], forms[i], &values[i], &results[i], &statuses[i]);
} catch (...) {
  std::fill_n(statuses, n, CaughtException());
}

void DbImpl::MultiGetEntity(const ReadOptions& options, size_t n, const Slice* keys,
                            PinnableAttributeGroups* results) try {
  // All groups of all keys become one flat MultiGet, so that the whole call shows one moment and
  // visits each file once.
  std::vector<Slice> all_keys;
  std::vector<ColumnFamilyHandle*> handles;
  for (size_t i = 0; i < n; i++) {
    for (PinnableAttributeGroup& group : results[i]) {
      group.Reset();
      all_keys.push_back(keys[i]);
      handles.push_back(group.column_family());
    }
  }
  std::vector<PinnableWideColumns> columns(handles.size());
  std::vector<Status> statuses(handles.size());
  MultiGetEntity(options, handles.size(), handles.data(), all_keys.data(), columns.data(),
                 statuses.data(), /*sorted_input=*/false);
  size_t next = 0;
  for (size_t i = 0; i < n; i++) {
    for (PinnableAttributeGroup& group : results[i]) {
      group.SetStatus(statuses[next]);
      if (statuses[next].ok()) group.SetColumns(std::move(columns[next]));
      next++;
    }
  }
} catch (...) {
  const Status s = CaughtException();
  for (size_t i = 0; i < n; i++) {
    for (PinnableAttributeGroup& group : results[i]) group.SetStatus(s);
  }
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
  // A read that cannot be made leaves the answer unknown, which is true.
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
  // The iterator takes over this reference. Until it exists, whatever fails must give it back, also
  // an exception of the user's comparator in the check.
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
    // One family may be named twice, so each iterator gets a reference of its own; `unpin` releases
    // those of the map.
    pinned[family]->Ref();
    iterators->push_back(NewDbIterator(options, family->shared_from_this(), pinned[family], seq,
                                       engine_->context.statistics()));
  }
  VARVE_ASSERT(iterators->size() == handles.size());
  return s;
} catch (...) {
  const Status s = CaughtException();
  if (iterators == nullptr) return s;
  // The iterators that were made have their references, and are destroyed with them: the caller
  // gets all or none.
  for (Iterator* iterator : *iterators) delete iterator;
  iterators->clear();
  return s;
}

std::unique_ptr<Iterator> DbImpl::NewCoalescingIterator(
    const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& handles) {
  return MakeCoalescingIterator(
      [&](std::vector<Iterator*>* made) { return NewIterators(options, handles, made); }, handles);
}

std::unique_ptr<AttributeGroupIterator> DbImpl::NewAttributeGroupIterator(
    const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& handles) {
  return MakeAttributeGroupIterator(
      [&](std::vector<Iterator*>* made) { return NewIterators(options, handles, made); }, handles);
}

}  // namespace varve
