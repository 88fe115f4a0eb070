// SPDX-License-Identifier: Apache-2.0

// A point read asks sources from the newest to the oldest by sequence number and stops at the first
// version that it sees. With timestamps written out of order, an older source may have a version
// with a newer timestamp that the read sees as well. That is rare, so the fast search stays, and
// its result is checked:
//
//     NoteTimestampOrder     asks each later source if it may have a newer timestamp for the key:
//                            memtables are searched; an open table tells by its newest timestamp,
//                            then by its filter; a table that is not open may have anything
//     GetInTimestampOrder    searches again, in all sources merged by the order of internal keys,
//                            in which newer timestamps come first
//
// A wrong yes costs a second search; a wrong no would be a wrong answer. So whatever is not known
// counts as yes. If a visible range tombstone of the sources passed covers the key, nothing older
// counts, and no question is asked.

#include "db/read/timestamp_order.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "db/read/version_iterators.h"
#include "db/version/file_bounds.h"
#include "table/iterator/merging_iterator.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/status_macros.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Looks for versions of the lookup's key, visible to it, with a newer timestamp than what it has
// found.
class NewerTimestamps {
 public:
  NewerTimestamps(const ReadOptions& options, const SuperVersion& super_version,
                  const PointLookup& lookup)
      : options_(options),
        super_version_(super_version),
        icmp_(*super_version.version().icmp()),
        lookup_(lookup) {}

  // True if a source that the search would have asked after the one at `place` may have such a
  // version. Returns true where it does not know.
  [[nodiscard]] bool MayBeBehind(const SearchPlace& place) const {
    if (place.level == SearchPlace::kMemTables) {
      // immutables()[i] has place.index i + 1, as the active memtable has 0.
      const auto& immutables = super_version_.immutables();
      for (size_t i = place.index; i < immutables.size(); i++) {
        if (MemTableHasOne(*immutables[i])) return true;
      }
    }
    const Version& version = super_version_.version();
    if (place.level <= 0 && version.non_empty_levels() > 0) {
      const LevelFiles& files = version.level(0);
      for (size_t i = place.level == 0 ? place.index + 1 : 0; i < files.size(); i++) {
        if (FileCovers(*files[i], lookup_.key(), icmp_) && FileMayHaveOne(*files[i])) return true;
      }
    }
    for (int level = std::max(place.level + 1, 1); level < version.non_empty_levels(); level++) {
      if (LevelMayHaveOne(version.level(level))) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] bool IsNewer(const Slice& timestamp) const {
    return icmp_.CompareTimestamp(timestamp, lookup_.last_timestamp()) > 0;
  }

  // The first visible entry of the key has the newest timestamp in this memtable.
  [[nodiscard]] bool MemTableHasOne(const MemTable& mem) const {
    const std::unique_ptr<InternalIterator> it = mem.NewIterator();
    for (it->Seek(lookup_.internal_key()); it->Valid(); it->Next()) {
      const Slice user_key = ExtractUserKey(it->key());
      if (!icmp_.EqualKey(icmp_.KeyOf(it->key()), lookup_.key())) return false;
      if (ExtractSequence(it->key()) > lookup_.snapshot()) continue;
      return IsNewer(icmp_.TimestampOf(user_key));
    }
    return !it->status().ok();
  }

  // True if the file may have one. Does not open a table for this.
  [[nodiscard]] bool FileMayHaveOne(const FileMetaData& file) const {
    const TableReader* const reader = file.reader.load(std::memory_order_acquire);
    if (reader == nullptr || reader->newest_timestamp().empty()) return true;
    Statistics* const statistics = super_version_.table_cache()->options().statistics;
    RecordTick(statistics, TIMESTAMP_FILTER_TABLE_CHECKED);
    if (IsNewer(reader->newest_timestamp())) return reader->KeyMayMatch(options_, lookup_);
    RecordTick(statistics, TIMESTAMP_FILTER_TABLE_FILTERED);
    return false;
  }

  [[nodiscard]] bool LevelMayHaveOne(const LevelFiles& files) const {
    const Slice key = lookup_.key();
    for (size_t i = files.Find(lookup_.internal_key()); i < files.size(); i++) {
      if (icmp_.CompareKey(key, icmp_.KeyOf(files[i]->smallest)) < 0) return false;
      if (FileMayHaveOne(*files[i])) return true;
      if (icmp_.CompareKey(key, icmp_.KeyOf(files[i]->largest)) < 0) return false;
    }
    return false;
  }

  const ReadOptions& options_;
  const SuperVersion& super_version_;
  const InternalKeyComparator& icmp_;
  const PointLookup& lookup_;
};

// Offers the lookup no pin, so that it copies the value, because the merged sources are destroyed
// before the value is used.
class CopiedValue final : public ValuePin {
 public:
  Cleanable* Renew() override { return nullptr; }
};

// Drops the options that concern only iterators, and kPersistedTier: whether memtables may be read
// was decided by the caller (skip_memtables).
ReadOptions ForAllSources(const ReadOptions& options) {
  ReadOptions all = options;
  all.total_order_seek = true;
  all.auto_prefix_mode = false;
  all.prefix_same_as_start = false;
  all.iterate_lower_bound = nullptr;
  all.iterate_upper_bound = nullptr;
  all.table_filter = nullptr;
  all.pin_data = false;
  if (all.read_tier == kPersistedTier) all.read_tier = kReadAllTier;
  return all;
}

// Offers the entries of the key in the order of timestamps, until the lookup is decided.
Status OfferAll(InternalIterator* source, TombstoneSet* tombstones,
                const InternalKeyComparator& icmp, PointLookup* lookup) {
  CopiedValue pin;
  for (source->Seek(lookup->internal_key()); source->Valid(); source->Next()) {
    if (!icmp.EqualKey(icmp.KeyOf(source->key()), lookup->key())) break;
    const uint64_t trailer = ExtractTrailer(source->key());
    lookup->CoverWith(tombstones->MaxCoveringSeq(lookup->key(), lookup->snapshot()));
    if (!lookup->Sees(ExtractUserKey(source->key()), trailer)) continue;
    if (!lookup->Offer(trailer, source->value(), &pin)) continue;
    return lookup->state() == PointLookup::State::kFailed ? lookup->status() : Status::OK();
  }
  VARVE_RETURN_IF_ERROR(source->status());
  (void)lookup->EndIfCovered();
  return Status::OK();
}

}  // namespace

void NoteTimestampOrder(const ReadOptions& options, const SuperVersion& super_version,
                        const SearchPlace& place, PointLookup* lookup) {
  VARVE_ASSERT(lookup->has_timestamp());
  if (VARVE_CANARY(kStopAtFirstSource)) return;
  // A tombstone of a newer source covers all entries of older sources.
  if (lookup->out_of_order() || lookup->last_timestamp().empty() || lookup->covering_seq() != 0) {
    return;
  }
  if (NewerTimestamps(options, super_version, *lookup).MayBeBehind(place)) lookup->SetOutOfOrder();
}

// A merged walk shows a key's entries from the newest timestamp to the oldest, wherever they lie.
// The read options are widened, so that no source is left out on account of a filter.
Status GetInTimestampOrder(const ReadOptions& options, const SuperVersion& super_version,
                           bool skip_memtables, PointLookup* lookup) {
  VARVE_ASSERT(lookup->has_timestamp());
  lookup->Restart();
  const InternalKeyComparator& icmp = *super_version.version().icmp();
  const ReadOptions all = ForAllSources(options);
  TombstoneSet tombstones(icmp);
  tombstones.SetTimestampLimit({lookup->as_of(), /*inclusive=*/true});
  std::vector<std::unique_ptr<InternalIterator>> sources;
  const bool prefix_wanted = false;
  size_t memtables = 0;
  Status s = skip_memtables
                 ? AddTableIterators(all, super_version, &tombstones, &sources, &prefix_wanted)
                 : AddSuperVersionIterators(all, super_version, &tombstones, &sources,
                                            &prefix_wanted, &memtables);
  if (s.ok()) {
    const std::unique_ptr<InternalIterator> source =
        NewMergingIterator(&icmp, std::move(sources), MergeAhead::kNothing, memtables);
    s = OfferAll(source.get(), &tombstones, icmp, lookup);
  }
  if (!s.ok()) lookup->Fail(s);
  return s;
}

}  // namespace varve
