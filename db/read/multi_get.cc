// SPDX-License-Identifier: Apache-2.0

// The keys of a call are sorted, and searched in groups of up to kGroupKeys. A group goes through
// the same places as a Get (get.cc), all its keys together: one place after the other, so that
// neighbours share the search for files, filters and blocks, and the misses of a group are read at
// once.
//
//     PlaceSorter    sorts indexes of keys, so that results stay at the call's own indexes
//     FamilySearch   splits a family's keys into groups, watches the limits of time and bytes, and
//                    turns the outcome of each search into value and status
//     GroupSearch    searches one group: collects which key is to be looked for in which table
//                    (Stop, TableProbe), and runs these probes together
//
// Keys leave searching_ when they are decided; it stays sorted. In a level below L0 a key may have
// to go on to the next file (MoveOn), so a level takes a few rounds at most.

#include "db/read/multi_get.h"

#include <algorithm>
#include <vector>

#include "varve/system_clock.h"

#include "db/read/blob_read.h"
#include "db/read/merge_read.h"
#include "db/read/read_timestamp.h"
#include "db/read/timestamp_order.h"
#include "db/version/blob_source.h"
#include "db/version/entry_place.h"
#include "db/version/file_bounds.h"
#include "table/reader/probe_batch.h"
#include "util/base/assert.h"
#include "util/coding/shared_prefix.h"
#include "util/key/point_lookup.h"
#include "util/mem/bounded_array.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Number of keys that are processed together.
constexpr size_t kGroupKeys = kProbesMax;

bool IsOver(const PointLookup& lookup) {
  return lookup.state() != PointLookup::State::kSearching;
}

// A key's index in the call, and eight bytes that order it against most others.
struct OrderedPlace {
  uint64_t key_prefix;
  uint32_t place;
};

// Sorts indexes by their keys. Most calls are sorted already.
class PlaceSorter {
 public:
  PlaceSorter(const InternalKeyComparator& icmp, const Slice* keys) : icmp_(icmp), keys_(keys) {}

  void Sort(std::span<uint32_t> places) {
    if (places.size() < 2) return;
    VARVE_ASSERT(keys_ != nullptr);
    if (places.size() <= kGroupKeys) {
      OrderedPlace inline_places[kGroupKeys];
      SortIn({inline_places, places.size()}, places);
    } else {
      std::vector<OrderedPlace> many(places.size());
      SortIn(many, places);
    }
  }

 private:
  void SortIn(std::span<OrderedPlace> ordered, std::span<uint32_t> places) const {
    VARVE_ASSERT(ordered.size() == places.size());
    SetKeyPrefixes(ordered, places);
    const auto before = [this](const OrderedPlace& a, const OrderedPlace& b) {
      if (a.key_prefix != b.key_prefix) return a.key_prefix < b.key_prefix;
      return icmp_.CompareKey(keys_[a.place], keys_[b.place]) < 0;
    };
    if (std::is_sorted(ordered.begin(), ordered.end(), before)) return;
    std::sort(ordered.begin(), ordered.end(), before);
    for (size_t i = 0; i < places.size(); i++) places[i] = ordered[i].place;
  }

  // Sets each key_prefix to the eight bytes behind the common prefix of all keys, which tell more
  // keys apart than the first eight. If the order does not follow the bytes, all become 0, and the
  // comparator decides alone.
  void SetKeyPrefixes(std::span<OrderedPlace> ordered, std::span<const uint32_t> places) const {
    size_t shared = 0;
    if (BytesDecide(icmp_.order())) {
      const Slice& first = keys_[places[0]];
      shared = first.size();
      for (const uint32_t place : places) {
        const Slice& key = keys_[place];
        shared = SharedPrefix(first.data(), key.data(), std::min(shared, key.size()));
      }
    }
    for (size_t i = 0; i < places.size(); i++) {
      ordered[i] = {KeyPrefixOf(keys_[places[i]], shared), places[i]};
    }
  }

  uint64_t KeyPrefixOf(const Slice& key, size_t shared) const {
    if (!BytesDecide(icmp_.order())) return 0;
    const uint64_t key_prefix = KeyPrefix(key, shared);
    return IsReverse(icmp_.order()) ? ~key_prefix : key_prefix;
  }

  const InternalKeyComparator& icmp_;
  const Slice* const keys_;
};

// One group of keys, which is searched in one source of a super-version after another.
class GroupSearch {
 public:
  GroupSearch(const ReadOptions& options, const SuperVersion& super_version, Statistics* statistics)
      : options_(options),
        super_version_(super_version),
        version_(super_version.version()),
        icmp_(*version_.icmp()),
        statistics_(statistics) {}

  // Adds a key. Keys must ascend; duplicates are allowed.
  void Add(PointLookup* lookup) { searching_.push_back(lookup); }

  void SearchMemTables() {
    const PerfTimer<&PerfContext::get_from_memtable_time> timer;
    AddPerfCount<&PerfContext::get_from_memtable_count>(searching_.size());
    SearchPlace place;
    SearchMemTable(*super_version_.mem(), place);
    for (const std::shared_ptr<MemTable>& mem : super_version_.immutables()) {
      place.index++;
      if (!searching_.empty()) SearchMemTable(*mem, place);
    }
  }

  void SearchTables();
  [[nodiscard]] size_t searching() const { return searching_.size(); }

 private:
  // A key in a run of disjoint files, and the file that it has come to.
  struct Stop {
    PointLookup* lookup;
    size_t file;
    // True if the file ends with this user key, so that the next one may begin with it.
    bool may_continue = false;
  };

  void SearchMemTable(const MemTable& mem, const SearchPlace& place) {
    mem.Prefetch(searching_.span());
    DropIf([&](PointLookup* lookup) { return mem.Get(lookup) && Ended(lookup, place); });
  }
  // Must be called for a search that ended at `place`: with timestamps, checks whether an older
  // source may have a newer one. Always returns true.
  bool Ended(PointLookup* lookup, const SearchPlace& place) const {
    if (lookup->has_timestamp()) [[unlikely]]
      NoteTimestampOrder(options_, super_version_, place, lookup);
    return true;
  }
  bool EndedInTables(PointLookup* lookup, const SearchPlace& place) const {
    return (IsOver(*lookup) || lookup->EndIfCovered()) && Ended(lookup, place);
  }

  void SearchLevelZero();
  // Searches a level below L0, or a chain of L0. Searches that it ends end at `place`.
  void SearchRun(const LevelFiles& files, const SearchPlace& place);
  // Makes a Stop for each key that is searched, at the file which may have it; keys that lie in no
  // file get none. Requires that there are no stops.
  void FindFiles(const LevelFiles& files);
  // Removes the stops of keys that need no further file, and moves the others to the next file.
  void MoveOn(const LevelFiles& files);
  // Notes that the key is to be looked for in the file. A file that cannot be opened ends the
  // search with its error.
  void Probe(FileMetaData* file, int level, PointLookup* lookup);
  // Looks for all noted keys in their tables at once, counts what was found, and forgets them.
  void RunProbes(int level);

  // Removes the keys for which `over` is true.
  template <typename Predicate>
  void DropIf(Predicate over) {
    size_t left = 0;
    for (PointLookup* lookup : searching_) {
      if (!over(lookup)) searching_[left++] = lookup;
    }
    searching_.truncate(left);
  }

  const ReadOptions& options_;
  const SuperVersion& super_version_;
  const Version& version_;
  const InternalKeyComparator& icmp_;
  Statistics* const statistics_;
  BoundedArray<PointLookup*, kGroupKeys> searching_;
  BoundedArray<Stop, kGroupKeys> stops_;
  BoundedArray<TableProbe, kGroupKeys> probes_;
  // The tables of the probes, kept open while the probes run.
  BoundedArray<TableRef, kGroupKeys> tables_;
  const FileMetaData* last_probed_ = nullptr;
  size_t levels_read_ = 0;
};

void GroupSearch::SearchTables() {
  const PerfTimer<&PerfContext::get_from_output_files_time> timer;
  const int levels = version_.non_empty_levels();
  if (levels > 0) SearchLevelZero();
  for (int level = 1; level < levels && !searching_.empty(); level++) {
    SearchRun(version_.level(level), {level, 0});
  }
  if (levels_read_ != 0) {
    RecordInHistogram(statistics_, NUM_LEVEL_READ_PER_MULTIGET, levels_read_);
  }
}

// Files of L0 are searched from the newest to the oldest, as the first entry that is found counts.
// Where the version has chains, runs of files that do not overlap, each is searched like a level.
void GroupSearch::SearchLevelZero() {
  for (const L0Chain& chain : version_.l0_chains()) {
    if (searching_.empty()) return;
    SearchRun(chain.files, {0, chain.oldest});
  }
  if (!version_.l0_chains().empty()) return;
  const LevelFiles& files = version_.level(0);
  for (size_t i = 0; i < files.size(); i++) {
    FileMetaData* const file = files[i];
    if (searching_.empty()) return;
    if (icmp_.CompareKey(searching_.back()->key(), icmp_.KeyOf(file->smallest)) < 0) {
      continue;
    }
    for (PointLookup* lookup : searching_) {
      if (FileCovers(*file, lookup->key(), icmp_)) Probe(file, 0, lookup);
    }
    RunProbes(0);
    // A file's tombstones are newer than all entries of the files after it.
    DropIf([&](PointLookup* lookup) { return EndedInTables(lookup, {0, i}); });
  }
}

void GroupSearch::SearchRun(const LevelFiles& files, const SearchPlace& place) {
  const int level = place.level;
  for (FindFiles(files); !stops_.empty(); MoveOn(files)) {
    for (Stop& stop : stops_) {
      FileMetaData* const file = files[stop.file];
      stop.may_continue = icmp_.CompareKey(stop.lookup->key(), icmp_.KeyOf(file->largest)) >= 0;
      // A file that ends exclusively with this key has no entry of it.
      if (!stop.may_continue || !LargestIsExclusive(*file)) Probe(file, level, stop.lookup);
    }
    RunProbes(level);
  }
  // This must wait for the key's last file, which may have an entry newer than the first one's
  // tombstones.
  DropIf([&](PointLookup* lookup) { return EndedInTables(lookup, place); });
}

// Keys and files both ascend, so the search for a key's file begins at its neighbour's, and ends
// with the first key that is beyond the last file.
void GroupSearch::FindFiles(const LevelFiles& files) {
  VARVE_ASSERT(stops_.empty());
  size_t file = 0;
  for (PointLookup* lookup : searching_) {
    if (file == files.size()) return;
    const Slice key = lookup->internal_key();
    // Neighbours are often in the same file.
    if (icmp_.Compare(files[file]->largest.Encode(), key) < 0) file = files.Find(key);
    if (file == files.size()) return;
    if (icmp_.CompareKey(lookup->key(), icmp_.KeyOf(files[file]->smallest)) < 0) continue;
    stops_.push_back({lookup, file});
  }
}

// Keeps those keys whose versions may go on in the next file of the level, which begins with the
// key, and moves them there.
void GroupSearch::MoveOn(const LevelFiles& files) {
  size_t left = 0;
  for (const Stop& stop : stops_) {
    VARVE_ASSERT(stop.file < files.size());
    if (IsOver(*stop.lookup) || !stop.may_continue || stop.file + 1 == files.size()) continue;
    const Slice smallest = icmp_.KeyOf(files[stop.file + 1]->smallest);
    if (icmp_.CompareKey(stop.lookup->key(), smallest) < 0) continue;
    stops_[left++] = {stop.lookup, stop.file + 1};
  }
  stops_.truncate(left);
}

// Neighbouring keys often fall into one file, whose table is looked up once for all of them.
void GroupSearch::Probe(FileMetaData* file, int level, PointLookup* lookup) {
  VARVE_ASSERT(!IsOver(*lookup));
  VARVE_ASSERT(last_probed_ == nullptr || !tables_.empty());
  if (file != last_probed_) {
    TableRef table;
    const Status s = super_version_.table_cache()->Find(file, level, options_, &table);
    if (!s.ok()) {
      lookup->Fail(s);
      return;
    }
    tables_.push_back(std::move(table));
    last_probed_ = file;
  }
  probes_.push_back({tables_.back().get(), lookup});
}

// The tables stay open until their probes have run, which tables_ ensures.
void GroupSearch::RunProbes(int level) {
  if (probes_.empty()) return;
  const ProbeReads reads = MultiGetFromTables(options_, probes_.span());
  if (reads.tables != 0) {
    levels_read_++;
    RecordInHistogram(statistics_, NUM_SST_READ_PER_LEVEL, reads.tables);
  }
  if (reads.meta_blocks != 0) {
    RecordInHistogram(statistics_, NUM_INDEX_AND_FILTER_BLOCKS_READ_PER_LEVEL, reads.meta_blocks);
  }
  uint64_t found = 0;
  for (const TableProbe& probe : probes_) {
    const PointLookup::State state = probe.lookup->state();
    found += state == PointLookup::State::kFound || state == PointLookup::State::kReference ? 1 : 0;
  }
  AddPerfLevelCount<&PerfContextByLevel::user_key_return_count>(static_cast<uint32_t>(level),
                                                                found);
  RecordTick(statistics_, level == 0 ? GET_HIT_L0 : (level == 1 ? GET_HIT_L1 : GET_HIT_L2_AND_UP),
             found);
  probes_.clear();
  tables_.clear();
  last_probed_ = nullptr;
}

// Reads a call's keys of one family.
class FamilySearch {
 public:
  FamilySearch(MultiGetCall* call, const SuperVersion& super_version, SequenceNumber seq)
      : call_(*call),
        super_version_(super_version),
        seq_(seq),
        as_of_(AsOf(call->options, super_version)) {}

  void Run(std::span<const uint32_t> places) {
    while (!places.empty()) {
      if (call_.options.deadline.count() != 0 && PastDeadline()) {
        return EndWith(Status::TimedOut("MultiGet: the deadline has passed"), places);
      }
      if (call_.value_bytes > call_.options.value_size_soft_limit) {
        return EndWith(BeyondLimit(), places);
      }
      const size_t n = std::min(places.size(), kGroupKeys);
      RunGroup(places.first(n));
      places = places.subspan(n);
    }
  }

 private:
  bool PastDeadline() const {
    VARVE_ASSERT(call_.clock != nullptr);
    return call_.clock->NowMicros() > static_cast<uint64_t>(call_.options.deadline.count());
  }
  static Status BeyondLimit() {
    return Status::Aborted("MultiGet: value_size_soft_limit was reached");
  }
  void EndWith(const Status& s, std::span<const uint32_t> places) {
    for (const uint32_t place : places) call_.statuses[place] = s;
  }

  // The lookups live on the stack for one group. Values that lie in blob files are read last, for
  // the whole group together; operands are merged key by key in Settle.
  void RunGroup(std::span<const uint32_t> places) {
    BoundedArray<PointLookup, kGroupKeys> lookups;
    GroupSearch search(call_.options, super_version_, call_.statistics);
    for (const uint32_t place : places) {
      PointLookup& lookup = lookups.emplace_back(call_.keys[place], seq_, &call_.values[place],
                                                 &super_version_.merger(), as_of_);
      lookup.IgnoreTombstones(call_.options.ignore_range_deletions);
      if (call_.forms != nullptr) lookup.WantEntity();
      if (call_.timestamps != nullptr) lookup.ReportTimestamp(&call_.timestamps[place]);
      search.Add(&lookup);
    }
    if (!call_.skip_memtables) search.SearchMemTables();
    RecordTick(call_.statistics, MEMTABLE_HIT, places.size() - search.searching());
    if (search.searching() != 0) {
      RecordTick(call_.statistics, MEMTABLE_MISS, search.searching());
      search.SearchTables();
    }
    if (!super_version_.version().blob_files().empty()) [[unlikely]] {
      ReadReferences(places, lookups.span());
    }
    for (size_t i = 0; i < places.size(); i++) Settle(places[i], lookups[i]);
  }

  // Reads the values of a group's references together, up to value_size_soft_limit. Settle takes
  // the outcome: the value, or the lookup's error.
  void ReadReferences(std::span<const uint32_t> places, std::span<PointLookup> lookups);

  // Stores the outcome of a key's search. A key that comes after the limit of bytes was exceeded
  // gets no value, even if one was found.
  void Settle(uint32_t place, PointLookup& lookup) {
    if (call_.value_bytes > call_.options.value_size_soft_limit) [[unlikely]] {
      call_.values[place].Reset();
      call_.statuses[place] = BeyondLimit();
      return;
    }
    if (lookup.out_of_order() && lookup.state() != PointLookup::State::kFailed) [[unlikely]] {
      // The lookup has the error.
      GetInTimestampOrder(call_.options, super_version_, call_.skip_memtables, &lookup)
          .PermitUncheckedError();
    }
    switch (lookup.state()) {
      case PointLookup::State::kFound:
        if (call_.forms != nullptr) call_.forms[place] = lookup.form();
        return SettleFound(place, Status::OK());
      case PointLookup::State::kReference:
        return SettleReference(place, lookup);
      case PointLookup::State::kFailed:
        call_.statuses[place] =
            NameTableOfEntry(lookup.status(), call_.options, super_version_.version(),
                             super_version_.table_cache(), lookup.key(), seq_);
        return;
      case PointLookup::State::kDeleted:
      case PointLookup::State::kSearching:
      case PointLookup::State::kMerging:
        if (lookup.operands() != nullptr) return SettleMerge(place, &lookup);
        call_.statuses[place] = Status::NotFound();
        return;
    }
  }
  void SettleFound(uint32_t place, const Status& s) {
    call_.statuses[place] = s;
    call_.found++;
    call_.value_bytes += call_.values[place].size();
  }
  // Reads a reference that was not read with the others of its group.
  void SettleReference(uint32_t place, const PointLookup& lookup) {
    const Status s = ReadReference(call_.options, super_version_, lookup, &call_.values[place]);
    if (s.ok()) return SettleFound(place, s);
    call_.values[place].Reset();
    call_.statuses[place] = s;
  }
  void SettleMerge(uint32_t place, PointLookup* lookup) {
    const Status s =
        MergeForRead(call_.options, super_version_, lookup, &call_.values[place], call_.statistics);
    if (call_.forms != nullptr) call_.forms[place] = lookup->form();
    if (s.ok()) return SettleFound(place, s);
    call_.statuses[place] = s;
  }

  MultiGetCall& call_;
  const SuperVersion& super_version_;
  const SequenceNumber seq_;
  const ReadTimestamp as_of_;
};

// The encoded reference lies in the key's value, which the read overwrites, so it is copied out
// first. A lookup that is out of order is searched again in Settle, and gets its value there.
void FamilySearch::ReadReferences(std::span<const uint32_t> places,
                                  std::span<PointLookup> lookups) {
  struct Found {
    PointLookup* lookup;
    std::string user_key;
    std::string encoded;
  };
  std::vector<Found> found;
  std::vector<BlobRequest> requests;
  // Estimates what Settle will count, to read no more than the limit allows. A value in a blob file
  // counts with its stored size, which is smaller than its own if it is compressed.
  uint64_t value_bytes = call_.value_bytes;
  for (size_t i = 0; i < lookups.size(); i++) {
    if (value_bytes > call_.options.value_size_soft_limit) break;
    PointLookup& lookup = lookups[i];
    if (lookup.state() == PointLookup::State::kFound) value_bytes += call_.values[places[i]].size();
    if (lookup.state() != PointLookup::State::kReference || lookup.out_of_order()) continue;
    found.push_back({&lookup, FoundUserKey(lookup), call_.values[places[i]].ToString()});
    requests.emplace_back().value = &call_.values[places[i]];
    BlobReference reference;
    if (BlobReference::DecodeInDatabase(found.back().encoded, &reference).ok()) {
      value_bytes += reference.size;
    }
  }
  if (found.empty()) return;
  for (size_t i = 0; i < found.size(); i++) {
    requests[i].user_key = found[i].user_key;
    requests[i].encoded = found[i].encoded;
  }
  super_version_.table_cache()->blobs().MultiGet(call_.options, super_version_.version(), requests);
  for (size_t i = 0; i < found.size(); i++) {
    if (requests[i].status.ok()) {
      found[i].lookup->SetValueRead();
    } else {
      requests[i].value->Reset();
      found[i].lookup->Fail(requests[i].status);
    }
  }
}

}  // namespace

void MultiGetFromSuperVersion(MultiGetCall* call, const SuperVersion& super_version,
                              SequenceNumber seq, std::span<uint32_t> places) {
  if (call->options.read_tier == kMemtableTier) {
    const Status s =
        Status::NotSupported("MultiGet: ReadOptions::read_tier kMemtableTier is for iterators");
    for (const uint32_t place : places) call->statuses[place] = s;
    return;
  }
  PlaceSorter(*super_version.version().icmp(), call->keys).Sort(places);
  FamilySearch(call, super_version, seq).Run(places);
}

}  // namespace varve
