// SPDX-License-Identifier: Apache-2.0

// Garbage is estimated, table by table, from counts in the MANIFEST or in tables' properties; no
// table is opened for it.
//
//     tombstones    a table's deletions, each with the mean size of its entries
//     deleted       what they are expected to delete in deeper levels, at most all bytes there
//     hidden        versions under a newer one in the same table
//     overwritten   all values of a table, at most the remaining bytes of deeper levels
//
// No byte is counted twice: tables are visited from the newest level on, and bytes of deeper levels
// that one table deletes or overwrites are not available to the next ones.
//
// Each table gets the first of these reasons that applies: a snapshot needs the entries; the table
// is being compacted; automatic compactions are off; the table is due for compaction, or its level
// exceeds its target; a compaction has run and could not drop the entries; nothing triggers a
// compaction yet. Bytes with the same kind, reason and remedy form one item.
//
// A family is evaluated in one hold of the DB mutex, as levels, scores and snapshots must be of one
// moment. Directories (ReplacedTables, LostFiles) are listed without it.

#include "db/observe/garbage.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <tuple>
#include <utility>

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/version/file_weights.h"
#include "util/base/assert.h"
#include "util/env/absolute_path.h"
#include "util/env/file_names.h"
#include "util/options/validate_options.h"

namespace varve {

namespace {

struct Reason {
  std::string why;
  std::string freed_by;
};

// Computes the garbage of one family at one moment.
class FamilyGarbage {
 public:
  FamilyGarbage(const LiveSnapshots& snapshots, const ColumnFamily& family) VARVE_REQUIRES(kDbMutex)
      : snapshots_(snapshots),
        version_(*family.current()),
        shape_(family.ComputeShape()),
        options_(family.options()),
        weights_(version_),
        oldest_snapshot_(snapshots.oldest()) {
    for (const std::vector<DueFile>* list : {&shape_.due.files, &shape_.due.sinking}) {
      for (const DueFile& due : *list) {
        VARVE_ASSERT(due.index < version_.level(due.level).size());
        due_.emplace(version_.level(due.level)[due.index]->number, due.reason);
      }
    }
  }

  std::vector<GarbageItem> Run() VARVE_REQUIRES(kDbMutex) {
    double beneath = 0;  // bytes of the levels beneath the current one
    for (int level = 1; level < version_.num_levels(); level++) {
      beneath += static_cast<double>(version_.level(level).bytes());
    }
    unclaimed_ = beneath;
    for (int level = 0; level < version_.num_levels(); level++) {
      if (level > 0) beneath -= static_cast<double>(version_.level(level).bytes());
      // Bytes that were claimed are assumed to be in the upper ones of the levels beneath.
      unclaimed_ = std::min(unclaimed_, beneath);
      for (const FileRef& file : version_.level(level).files()) Visit(level, *file);
    }
    VARVE_ASSERT(beneath == 0);
    std::vector<GarbageItem> items;
    for (const auto& [key, bytes] : sums_) {
      // Less than a byte is only a rounding error.
      const auto whole = static_cast<uint64_t>(bytes);
      if (whole == 0) continue;
      const auto& [kind, why, freed_by] = key;
      items.push_back({kind, why, freed_by, whole});
    }
    std::stable_sort(items.begin(), items.end(),
                     [](const GarbageItem& a, const GarbageItem& b) { return a.bytes > b.bytes; });
    return items;
  }

 private:
  // Adds the garbage that the table has or causes to sums_.
  void Visit(int level, const FileMetaData& file) {
    VARVE_ASSERT(unclaimed_ >= 0);
    const TableCounts& counts = file.counts();
    // A table without counts is skipped.
    if (!counts.known()) return;
    const InternalKeyComparator& icmp = *version_.icmp();
    const double entry_bytes = static_cast<double>(file.size) / static_cast<double>(counts.entries);
    const bool over_something =
        version_.RangeMayExistFrom(level + 1, icmp.KeyOf(file.smallest), icmp.KeyOf(file.largest));
    const double below = over_something ? unclaimed_ : 0;
    const double deletions = static_cast<double>(counts.deletions);
    const double deleted = std::min(deletions * weights_.EntryBytesBeneath(level), below);
    const double values =
        static_cast<double>(counts.Values() - std::min(counts.Values(), counts.hidden));
    const double overwritten = std::min(values * entry_bytes, below - deleted);
    unclaimed_ = std::max(0.0, unclaimed_ - deleted - overwritten);
    // A compaction of the table alone may drop deletions and hidden versions of it. The values that
    // it overwrites are dropped only by a compaction with the level beneath.
    const bool may_shrink_alone = deletions > 0 || counts.hidden > 0;
    if (!may_shrink_alone && overwritten == 0) return;
    const Reason reason = ReasonOf(level, file, may_shrink_alone);
    Add("tombstones", reason, deletions * entry_bytes);
    Add("deleted", reason, deleted);
    Add("hidden", reason, static_cast<double>(counts.hidden) * entry_bytes);
    Add("overwritten", reason, overwritten);
  }

  void Add(const char* kind, const Reason& reason, double bytes) {
    if (bytes > 0) sums_[{kind, reason.why, reason.freed_by}] += bytes;
  }

  // Returns the reason why the obsolete entries that the table has or hides are still there.
  // `may_shrink_alone`: a compaction of the table alone could drop some.
  Reason ReasonOf(int level, const FileMetaData& file, bool may_shrink_alone) const {
    // The strongest reasons are tested first.
    if (file.largest_seq > oldest_snapshot_) {
      return {"held by snapshot " + std::to_string(oldest_snapshot_) + " since " +
                  std::to_string(snapshots_.oldest_unix_seconds()),
              "its release"};
    }
    if (file.notes.being_compacted) return {"being compacted", "the end of that"};
    if (!CompactsUnasked(*options_)) {
      return {"disable_auto_compactions is set, or no compaction_style",
              "CompactRange, or setting it otherwise"};
    }
    const auto due = due_.find(file.number);
    if (due != due_.end() && due->second != CompactionReason::kFilesMarkedForCompaction) {
      return {"due for compaction", "background work, which has not come to it"};
    }
    VARVE_ASSERT(static_cast<size_t>(level) < shape_.scores.size());
    const double score = shape_.scores[static_cast<size_t>(level)];
    if (score >= 1) return {OfLevel(level) + " is past its size", "background work"};
    if (may_shrink_alone && file.counts().settled) {
      return {"needed by what a compaction could not merge or date", "CompactRange, perhaps"};
    }
    if (may_shrink_alone && options_->bottommost_file_compaction_delay > 0 &&
        LastOfItsRange(level, file)) {
      return {"bottommost_file_compaction_delay has not passed",
              "time, " + std::to_string(options_->bottommost_file_compaction_delay) +
                  " s after the file's creation"};
    }
    char text[32];
    snprintf(text, sizeof(text), "%.2f", score);
    return {OfLevel(level) + " has a score of " + text,
            "its score reaching 1" + OrAge(file) + ", or CompactRange"};
  }

  std::string OrAge(const FileMetaData& file) const {
    if (options_->ttl == 0 || file.times.oldest_ancestor == 0) return "";
    return ", ttl at " + std::to_string(file.times.oldest_ancestor + options_->ttl);
  }

  static std::string OfLevel(int level) { return "L" + std::to_string(level); }

  // Returns true if no deeper level has keys in the table's range.
  bool LastOfItsRange(int level, const FileMetaData& file) const {
    const InternalKeyComparator& icmp = *version_.icmp();
    return level > 0 && !version_.RangeMayExistFrom(level + 1, icmp.KeyOf(file.smallest),
                                                    icmp.KeyOf(file.largest));
  }

  const LiveSnapshots& snapshots_;
  const Version& version_;
  const LevelShape shape_;
  const std::shared_ptr<const ColumnFamilyOptions> options_;
  const FileWeights weights_;
  const SequenceNumber oldest_snapshot_;
  std::map<uint64_t, CompactionReason> due_;  // keyed by file number
  // Bytes of the levels beneath the current one that no visited table deletes or overwrites.
  double unclaimed_ = 0;
  std::map<std::tuple<std::string, std::string, std::string>, double> sums_;
};

uint64_t SizeOf(FileSystem* fs, const std::string& path) {
  uint64_t bytes = 0;
  return fs->GetFileSize(path, IOOptions(), &bytes, nullptr).ok() ? bytes : 0;
}

// The directories of all families, and the numbers of the files in their current versions.
struct LiveFiles {
  std::set<std::string> directories;
  std::set<uint64_t> numbers;
};

LiveFiles ListLiveFiles(const DbContext& context, DbState* state) {
  LiveFiles live;
  live.directories.insert(context.name());
  DbLock lock(&state->mu);
  for (const auto& [id, family] : state->families.all()) {
    const std::vector<std::string>& directories = family->table_paths().directories();
    live.directories.insert(directories.begin(), directories.end());
    const Version& version = *family->current();
    for (int level = 0; level < version.num_levels(); level++) {
      for (const FileRef& file : version.level(level).files()) live.numbers.insert(file->number);
    }
    for (const BlobFileState& file : version.blob_files()) live.numbers.insert(file.number());
  }
  return live;
}

// Returns the names in the directory, or none if it cannot be read.
std::vector<std::string> NamesIn(FileSystem* fs, const std::string& directory) {
  std::vector<std::string> names;
  if (!fs->GetChildren(directory, IOOptions(), &names, nullptr).ok()) names.clear();
  return names;
}

// Returns the bytes of tables and blob files in the families' directories that are in no family's
// current version. Files with numbers above all live ones are left out, as jobs may be writing
// them. A job's output with a smaller number is counted until it is installed.
GarbageItem ReplacedTables(const DbContext& context, const LiveFiles& live) {
  GarbageItem item{"replaced", "held by iterators or other readers, or file deletions are disabled",
                   "giving them back", 0};
  FileSystem* const fs = context.fs().get();
  const uint64_t newest = live.numbers.empty() ? UINT64_MAX : *live.numbers.rbegin();
  for (const std::string& directory : live.directories) {
    const std::vector<std::string> names = NamesIn(fs, directory);
    for (const auto& [name, number, type] : FilesAmong(names)) {
      if (type != kTableFile && type != kBlobFile) continue;
      // A number above all live ones probably belongs to an output of a running job.
      if (live.numbers.contains(number) || number > newest) continue;
      item.bytes += SizeOf(fs, directory + "/" + name);
    }
  }
  return item;
}

// Returns the bytes of files in the lost/ folders of all directories.
GarbageItem LostFiles(const DbContext& context, const LiveFiles& live) {
  GarbageItem item{"lost", "set aside at an opening, for people to look at",
                   "deleting the folder lost/", 0};
  FileSystem* const fs = context.fs().get();
  std::set<std::string> directories = live.directories;
  if (!IsSamePath(context.WalDirectory(), context.name())) {
    directories.insert(context.WalDirectory());
  }
  for (const std::string& directory : directories) {
    const std::string lost = directory + "/lost";
    for (const std::string& name : NamesIn(fs, lost)) {
      if (name != "." && name != "..") item.bytes += SizeOf(fs, lost + "/" + name);
    }
  }
  return item;
}

}  // namespace

std::vector<GarbageItem> GarbageOfFamily(DbState* state, ColumnFamily* family) {
  DbLock lock(&state->mu);
  return FamilyGarbage(state->snapshots, *family).Run();
}

// Directories are read without the mutex, so a file that is replaced meanwhile may not be counted.
// Items without bytes are omitted.
std::vector<GarbageItem> Garbage(const DbContext& context, DbState* state, ColumnFamily* family) {
  std::vector<GarbageItem> items = GarbageOfFamily(state, family);
  const LiveFiles live = ListLiveFiles(context, state);
  for (GarbageItem& item :
       std::vector<GarbageItem>{ReplacedTables(context, live), LostFiles(context, live)}) {
    if (item.bytes > 0) items.push_back(std::move(item));
  }
  return items;
}

std::string GarbageText(const std::vector<GarbageItem>& items) {
  std::string text;
  for (const GarbageItem& item : items) {
    text += item.kind + ": " + std::to_string(item.bytes) + " bytes, " + item.why + "; freed by " +
            item.freed_by + "\n";
  }
  return text;
}

std::map<std::string, std::string> GarbageMap(const std::vector<GarbageItem>& items) {
  std::map<std::string, uint64_t> sums = {{"total", 0}};
  std::map<std::string, int> numbers;
  std::map<std::string, std::string> map;
  for (const GarbageItem& item : items) {
    VARVE_ASSERT(item.bytes > 0 && item.kind != "total");
    sums[item.kind] += item.bytes;
    sums["total"] += item.bytes;
    const std::string name = item.kind + "." + std::to_string(++numbers[item.kind]);
    map[name + ".bytes"] = std::to_string(item.bytes);
    map[name + ".why"] = item.why;
    map[name + ".freed-by"] = item.freed_by;
  }
  for (const auto& [kind, bytes] : sums) map[kind] = std::to_string(bytes);
  return map;
}

std::string GarbageSummary(const std::vector<GarbageItem>& items) {
  std::map<std::string, uint64_t> sums;
  for (const GarbageItem& item : items) sums[item.kind] += item.bytes;
  std::string text;
  for (const auto& [kind, bytes] : sums) {
    text += (text.empty() ? "" : ", ") + std::to_string(bytes) + " bytes " + kind;
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace varve
