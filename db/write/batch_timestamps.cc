// SPDX-License-Identifier: Apache-2.0

// Timestamps in a batch: tracks which keys have one or need one, and sets them in place.

#include "db/write/batch_timestamps.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "db/write/write_batch_internal.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// Stands for no offset, and, as in RocksDB, for the timestamp size of a family that the program's
// function does not know.
constexpr size_t kNone = std::numeric_limits<size_t>::max();

// The keys of an update: two for a range.
struct Keys {
  explicit Keys(const BatchRecord& record)
      : keys{record.key, record.value}, count(record.type == kTypeRangeDeletion ? 2 : 1) {}
  const Slice* begin() const { return keys; }
  const Slice* end() const { return keys + count; }

  const Slice keys[2];
  const int count;
};

// Calls visit(family) for all families in a batch's list.
template <typename TimestampedKeys, typename Visit>
void ForEachFamily(TimestampedKeys& timestamped, const Visit& visit) {
  if (timestamped.count == 0) return;
  visit(timestamped.family);
  for (auto& family : timestamped.more) visit(family);
}

Status EmptyTimestamp() {
  return Status::InvalidArgument("timestamp: 0 bytes are none");
}

}  // namespace

Status TimestampSizeError(const std::string& family, size_t given, size_t expected) {
  return Status::InvalidArgument("timestamp: of " + std::to_string(given) +
                                 " bytes, and the comparator of column family " + family +
                                 " has timestamps of " + std::to_string(expected));
}

WriteBatch::TimestampedFamily* WriteBatchInternal::FindTimestamped(WriteBatch* batch,
                                                                   uint32_t column_family,
                                                                   size_t ts_size) {
  WriteBatch::TimestampedFamily* found = nullptr;
  ForEachFamily(batch->timestamped_, [&](WriteBatch::TimestampedFamily& family) {
    if (family.id == column_family && family.ts_size == ts_size) found = &family;
  });
  return found;
}

WriteBatch::TimestampedFamily* WriteBatchInternal::AddTimestampedFamily(
    WriteBatch* batch, const WriteBatch::TimestampedFamily& family) {
  WriteBatch::TimestampedKeys& timestamped = batch->timestamped_;
  if (timestamped.count != 0) return &timestamped.more.emplace_back(family);
  timestamped.family = family;
  return &timestamped.family;
}

void WriteBatchInternal::NoteTimestamp(WriteBatch* batch, uint32_t column_family,
                                       const KeyTimestamp& timestamp) {
  VARVE_ASSERT(timestamp.size > 0);
  const size_t offset = batch->rep_.size();
  WriteBatch::TimestampedFamily* family = FindTimestamped(batch, column_family, timestamp.size);
  if (family == nullptr)
    family = AddTimestampedFamily(batch, {column_family, timestamp.size, offset});
  if (timestamp.data == nullptr) family->first_unset = std::min(family->first_unset, offset);
  batch->timestamped_.count++;
}

// Without memory for a family the batch stays unchanged. Only the addition of one may throw; what
// was noted before lies behind the end of the batch, so it is forgotten like a truncated record.
void WriteBatchInternal::NoteTimestampsOf(WriteBatch* batch, const WriteBatch& src) {
  // The records of `src` lose their header when they are appended, so their offsets move by this
  // much.
  const size_t shift = batch->rep_.size() - kBatchHeaderBytes;
  // A copy, because `src` may be the batch itself.
  const WriteBatch::TimestampedKeys added = src.timestamped_;
  const uint32_t before = batch->timestamped_.count;
  try {
    ForEachFamily(added, [&](WriteBatch::TimestampedFamily family) {
      family.first += shift;
      if (family.first_unset != kNone) family.first_unset += shift;
      WriteBatch::TimestampedFamily* known = FindTimestamped(batch, family.id, family.ts_size);
      if (known == nullptr) known = AddTimestampedFamily(batch, family);
      known->first_unset = std::min(known->first_unset, family.first_unset);
      // Set with the first family already, as AddTimestampedFamily takes 0 for an empty list.
      batch->timestamped_.count = before + added.count;
    });
  } catch (...) {
    ForgetTimestamps(batch, before);
    throw;
  }
}

// Families are listed in the order of their first records, so those that began behind the new end
// are at the end of the list. A family that stays keeps its first unset record if that is before
// the end; otherwise no unset one is left.
void WriteBatchInternal::ForgetTimestamps(WriteBatch* batch, uint32_t count) {
  WriteBatch::TimestampedKeys& timestamped = batch->timestamped_;
  VARVE_ASSERT(count <= timestamped.count);
  if (count == 0) {
    if (timestamped.count != 0) timestamped = {};
    return;
  }
  timestamped.count = count;
  const size_t end = batch->rep_.size();
  while (!timestamped.more.empty() && timestamped.more.back().first >= end)
    timestamped.more.pop_back();
  ForEachFamily(timestamped, [end](WriteBatch::TimestampedFamily& family) {
    if (family.first_unset >= end) family.first_unset = kNone;
  });
}

bool WriteBatchInternal::HasUnsetTimestamps(const WriteBatch& batch, uint32_t* column_family,
                                            size_t* ts_size) {
  bool found = false;
  ForEachFamily(batch.timestamped_, [&](const WriteBatch::TimestampedFamily& family) {
    if (family.first_unset == kNone) return;
    found = true;
    *column_family = family.id;
    *ts_size = family.ts_size;
  });
  return found;
}

size_t WriteBatchInternal::TimestampSizeUnless(const WriteBatch& batch, uint32_t column_family,
                                               size_t expected) {
  // A second size of the same family, which only a mistake can make, wins over the expected one, so
  // that the caller notices it.
  size_t size = IsAdopted(batch) ? expected : 0;
  ForEachFamily(batch.timestamped_, [&](const WriteBatch::TimestampedFamily& family) {
    if (family.id == column_family && (size == 0 || size == expected)) size = family.ts_size;
  });
  return size;
}

// Checks, without a change, that each update has room for the timestamp that it is to get.
template <typename Pick>
Status WriteBatchInternal::CheckTimestamps(const WriteBatch& batch, const Pick& pick) {
  BatchReader reader(batch.rep_);
  BatchRecord record;
  Slice ts;
  while (reader.Next(&record)) {
    if (!record.counted) continue;
    VARVE_RETURN_IF_ERROR(pick(record, reader.counted_so_far() - 1, &ts));
    if (ts.empty()) continue;
    const size_t size = TimestampSizeUnless(batch, record.column_family, ts.size());
    if (size != ts.size()) {
      return TimestampSizeError(std::to_string(record.column_family), ts.size(), size);
    }
    for (const Slice& key : Keys(record)) {
      if (key.size() < size) return Status::Corruption("write batch: a key without its timestamp");
    }
  }
  return reader.status();
}

// Goes through the batch twice: first to find every error while nothing has changed, then to write.
// `pick` may call the program, and answer otherwise the second time; such an update is passed over.
// A family has no unset timestamps afterwards only if none of its records was passed over.
template <typename Pick>
Status WriteBatchInternal::SetTimestamps(WriteBatch* batch, const Pick& pick) {
  // Damaged records must not get a new checksum.
  VARVE_RETURN_IF_ERROR(batch->VerifyChecksum());
  VARVE_RETURN_IF_ERROR(CheckTimestamps(*batch, pick));
  WriteBatch::TimestampedKeys& timestamped = batch->timestamped_;
  // From here on the batch changes, and no error may leave it half stamped.
  ForEachFamily(timestamped, [](WriteBatch::TimestampedFamily& family) { family.skipped = false; });
  char* const rep = batch->rep_.data();
  BatchReader reader(batch->rep_);
  BatchRecord record;
  Slice ts;
  while (reader.Next(&record)) {
    if (!record.counted) continue;
    if (!pick(record, reader.counted_so_far() - 1, &ts).ok() || ts.empty()) {
      ForEachFamily(timestamped, [&](WriteBatch::TimestampedFamily& family) {
        if (family.id == record.column_family) family.skipped = true;
      });
      continue;
    }
    for (const Slice& key : Keys(record)) {
      if (key.size() < ts.size()) continue;  // The second answer differs from the first.
      const auto end = static_cast<size_t>(key.data() - rep) + key.size();
      std::memcpy(rep + (end - ts.size()), ts.data(), ts.size());
    }
  }
  ForEachFamily(timestamped, [](WriteBatch::TimestampedFamily& family) {
    if (!family.skipped) family.first_unset = kNone;
  });
  return RenewChecksums(batch);
}

// Gives all keys with timestamps the same one; `ts_sz_func` says which families have them.
Status WriteBatch::UpdateTimestamps(const Slice& ts,
                                    std::function<size_t(uint32_t column_family_id)> ts_sz_func) {
  if (ts.empty()) return EmptyTimestamp();
  return WriteBatchInternal::SetTimestamps(
      this, [&](const BatchRecord& record, uint32_t /*index*/, Slice* own) {
        const size_t size = ts_sz_func(record.column_family);
        if (size == kNone) {
          return Status::NotFound("write batch: the timestamp size of column family " +
                                  std::to_string(record.column_family) + " is not known");
        }
        if (size != 0 && size != ts.size()) {
          return TimestampSizeError(std::to_string(record.column_family), ts.size(), size);
        }
        *own = size == 0 ? Slice() : ts;
        return Status::OK();
      });
}

// The checker gets the size of `ts`, and sets it to 0 for a family without timestamps.
Status WriteBatchInternal::PickChecked(const WriteBatch::TimestampChecker& checker,
                                       uint32_t column_family, const Slice& ts, Slice* own) {
  size_t size = ts.size();
  VARVE_RETURN_IF_ERROR(checker(column_family, size));
  if (size != 0 && size != ts.size()) {
    return TimestampSizeError(std::to_string(column_family), ts.size(), size);
  }
  *own = size == 0 ? Slice() : ts;
  return Status::OK();
}

Status WriteBatch::AssignTimestamp(const Slice& ts, TimestampChecker checker) {
  if (ts.empty()) return EmptyTimestamp();
  return WriteBatchInternal::SetTimestamps(this, [&](const BatchRecord& record, uint32_t /*index*/,
                                                     Slice* own) {
    const uint32_t family = record.column_family;
    if (checker) return WriteBatchInternal::PickChecked(checker, family, ts, own);
    const bool has_none = WriteBatchInternal::TimestampSizeUnless(*this, family, ts.size()) == 0;
    *own = has_none ? Slice() : ts;
    return Status::OK();
  });
}

Status WriteBatch::AssignTimestamps(const std::vector<Slice>& ts_list, TimestampChecker checker) {
  if (ts_list.size() != Count()) {
    return Status::InvalidArgument("write batch: " + std::to_string(ts_list.size()) +
                                   " timestamps for " + std::to_string(Count()) + " updates");
  }
  return WriteBatchInternal::SetTimestamps(
      this, [&](const BatchRecord& record, uint32_t index, Slice* own) {
        const uint32_t family = record.column_family;
        // Adopted bytes may hold more updates than their header counts; the walk fails at its end.
        *own = index < ts_list.size() ? ts_list[index] : Slice();
        if (checker) return WriteBatchInternal::PickChecked(checker, family, *own, own);
        const size_t due = WriteBatchInternal::TimestampSizeUnless(*this, family, own->size());
        if (due == own->size()) return Status::OK();
        return TimestampSizeError(std::to_string(family), own->size(), due);
      });
}

}  // namespace varve
