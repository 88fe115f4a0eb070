// SPDX-License-Identifier: Apache-2.0

// The range whose contents an ingestion replaces (atomic_replace_range): from start, inclusive, to
// limit, exclusive, or everything. A table in it is removed as a whole, as no table is rewritten
// here; a table that extends across a limit makes the call fail.
//
//                 start                    limit
//                   |                        |
//      [a..b]   [c......d]    [e..f]    [g.......h]   [i..j]
//       stays    refused       goes      refused       stays

#include "db/ingest/replaced_range.h"

namespace varve {

namespace {

// Returns true if a tombstone covers a key in [start, limit), which are keys without timestamps.
bool CoversAnyBefore(const FragmentedTombstones& list, const InternalKeyComparator& icmp,
                     const Slice& start, const Slice& limit) {
  for (size_t i = list.LowerBound(start); i < list.size(); i++) {
    if (icmp.CompareKey(list.bound(i), limit) >= 0) return false;
    if (list.fragment(i).covered) return true;
  }
  return false;
}

}  // namespace

Status ReplacedRange::Make(const InternalKeyComparator& icmp, const RangeOpt& range,
                           std::optional<ReplacedRange>* result) {
  if (range.start.has_value() != range.limit.has_value()) {
    return Status::InvalidArgument(
        "IngestExternalFiles: atomic_replace_range must have both limits, or neither");
  }
  ReplacedRange made;
  made.everything_ = !range.start.has_value();
  if (!made.everything_) {
    made.start_ = range.start->ToString();
    made.limit_ = range.limit->ToString();
    if (icmp.CompareKey(made.start_, made.limit_) >= 0) {
      return Status::InvalidArgument(
          "IngestExternalFiles: atomic_replace_range does not end after it begins");
    }
  }
  *result = std::move(made);
  return Status::OK();
}

bool ReplacedRange::Covers(const InternalKeyComparator& icmp, const TableFacts& table) const {
  if (everything_) return true;
  if (icmp.CompareKey(icmp.KeyOf(table.smallest), start_) < 0) return false;
  const int end = icmp.CompareKey(icmp.KeyOf(table.largest), limit_);
  // The end of a range tombstone is exclusive, so it may equal the limit.
  return end < 0 || (end == 0 && table.largest.sequence() == kMaxSequenceNumber);
}

bool ReplacedRange::Overlaps(const InternalKeyComparator& icmp, const TableFacts& table) const {
  if (everything_) return true;
  if (icmp.CompareKey(icmp.KeyOf(table.smallest), limit_) >= 0) return false;
  const int end = icmp.CompareKey(icmp.KeyOf(table.largest), start_);
  // A table whose largest key is the exclusive end of a range tombstone does not contain that key.
  return end > 0 || (end == 0 && table.largest.sequence() != kMaxSequenceNumber);
}

// Leaves *any unchanged if there is no such entry, as it is called for several memtables in turn.
Status ReplacedRange::LookInto(const InternalKeyComparator& icmp, const MemTable& mem,
                               bool* any) const {
  if (mem.entry_count() == 0) return Status::OK();
  if (everything_) {
    *any = true;
    return Status::OK();
  }
  const Slice start(start_);
  const Slice limit(limit_);
  for (const auto& list : mem.RangeTombstones()) *any |= CoversAnyBefore(*list, icmp, start, limit);
  const auto it = mem.NewIterator();
  it->Seek(icmp.FirstInternalKey(start).Encode());
  if (!it->status().ok()) return it->status();
  *any |= it->Valid() && icmp.CompareKey(icmp.KeyOf(it->key()), limit) < 0;
  return Status::OK();
}

// Tables with an epoch of `epochs_end` or above were flushed after the order point, or belong to
// the ingestion.
Status ReplacedRange::FindTables(const Version& version, uint64_t epochs_end,
                                 std::vector<std::pair<int, FileRef>>* tables) const {
  tables->clear();
  const InternalKeyComparator& icmp = *version.icmp();
  for (int level = 0; level < version.num_levels(); level++) {
    for (const FileRef& file : version.level(level).files()) {
      if (file->epoch_number >= epochs_end || !Overlaps(icmp, *file)) continue;
      if (!Covers(icmp, *file)) {
        return Status::InvalidArgument(
            file->FileName(),
            "has keys in atomic_replace_range and outside of it: compact its range first, or "
            "choose limits between tables");
      }
      tables->emplace_back(level, file);
    }
  }
  return Status::OK();
}

}  // namespace varve
