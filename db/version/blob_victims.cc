// SPDX-License-Identifier: Apache-2.0

// A compaction learns that a value is garbage when it meets a newer entry of the key. So there is
// garbage that is counted, in the blob files' states, and garbage that is not known yet. Each table
// of L0, and all deeper levels together, is taken as one part of the tree. The tree has at least as
// many keys as its largest part, so at most the values that the other parts refer to are hidden
// garbage. (What the deeper levels hide of each other is bounded by the ratio of their sizes.)
//
// 1. While both together exceed the limit, and what is known alone does not, L0 is compacted, which
//    costs only tables, and shows the garbage.
// 2. While the garbage of old files exceeds the limit, victims are chosen: those that free the most
//    bytes for the bytes that have to be written, weighted by age, as in Rosenblum and Ousterhout,
//    "The design and implementation of a log-structured file system", 1991. All compactions write
//    the values anew that they meet there, and the tables that refer to the first victim of
//    which some can be compacted are compacted for its sake.
// 3. While known garbage still exceeds the limit in all files together, and a half of them, younger
//    files are victims, too, if more than that share of their bytes is garbage. Of a skewed load
//    the old files hold what lives on, and the young ones what died. A limit below a half does not
//    count here: with a low one, values would be moved again and again that are about to die.
//
// When a victim's values have been rewritten the file goes, and its garbage with it, so this ends.

#include "db/version/blob_victims.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "util/base/assert.h"

namespace varve {

namespace {

constexpr double kDefaultLimit = 0.5;

// Sums of what tables refer to.
struct Referring {
  uint64_t in_l0 = 0;       // bytes of values
  uint64_t most_of_l0 = 0;  // those of one table
  uint64_t beneath = 0;
};

// True if the table may refer to a value of the blob file. A table without shares, as other
// programs write it, says only which file is the oldest; it may refer to that one and to any later
// one.
bool MayReferTo(const FileMetaData& table, uint64_t blob_file) {
  if (table.oldest_blob_file_number == 0) return false;
  if (table.blob_shares.empty()) return table.oldest_blob_file_number <= blob_file;
  const auto found = std::ranges::lower_bound(table.blob_shares, blob_file, {}, &BlobShare::file);
  return found != table.blob_shares.end() && found->file == blob_file;
}

// Sums the values that tables refer to. Tables without shares count for nothing, so the bound on
// hidden garbage covers only what Varve wrote.
Referring Collect(const Version& version) {
  Referring found;
  for (int level = 0; level < version.non_empty_levels(); level++) {
    for (const FileRef& table : version.level(level).files()) {
      uint64_t bytes = 0;
      for (const BlobShare& share : table->blob_shares) bytes += share.bytes;
      (level == 0 ? found.in_l0 : found.beneath) += bytes;
      if (level == 0) found.most_of_l0 = std::max(found.most_of_l0, bytes);
    }
  }
  return found;
}

// Returns the bytes of the tables that refer to a blob file, by its number.
std::map<uint64_t, uint64_t> BytesOfTables(const Version& version) {
  std::map<uint64_t, uint64_t> bytes;
  for (int level = 0; level < version.non_empty_levels(); level++) {
    for (const FileRef& table : version.level(level).files()) {
      for (const BlobShare& share : table->blob_shares) bytes[share.file] += table->size;
    }
  }
  return bytes;
}

// A blob file that may be a victim.
struct Candidate {
  const BlobFileState* file = nullptr;
  double gain = 0;
};

// Returns the blob files at [from, to) that have garbage, the most profitable first. The profit
// is the garbage that goes, times the age, for each byte written: the live values, and the tables
// that refer to them. Age counts because the garbage of an old file hardly grows any more, so
// waiting would not make it cheaper.
std::vector<Candidate> Candidates(const Version& version, size_t from, size_t to) {
  const BlobFiles& files = version.blob_files();
  const std::map<uint64_t, uint64_t> table_bytes = BytesOfTables(version);
  std::vector<Candidate> candidates;
  for (size_t i = from; i < to; i++) {
    const BlobFileState& file = files[i];
    if (file.garbage_bytes == 0) continue;
    const auto tables = table_bytes.find(file.number());
    const uint64_t written = file.bytes() - std::min(file.bytes(), file.garbage_bytes) +
                             (tables == table_bytes.end() ? 0 : tables->second);
    const auto age = static_cast<double>(files.size() - i);
    candidates.push_back(
        {&file, static_cast<double>(file.garbage_bytes) * age / static_cast<double>(written + 1)});
  }
  std::ranges::stable_sort(candidates, std::ranges::greater(), &Candidate::gain);
  return candidates;
}

// Adds the tables that may refer to the file and that can be compacted for its sake.
void AddTables(const Version& version, uint64_t blob_file, std::vector<DueFile>* tables) {
  // The leveled picker, which alone uses the list, compacts tables of L0 into a deeper level. Where
  // L0 is the only level there is none.
  if (version.usable_levels() <= 1) return;
  const int levels = std::min(version.non_empty_levels(), version.usable_levels());
  for (int level = 0; level < levels; level++) {
    const LevelFiles& files = version.level(level);
    for (size_t i = 0; i < files.size(); i++) {
      if (files[i]->notes.being_compacted || !MayReferTo(*files[i], blob_file)) continue;
      tables->push_back({level, i, CompactionReason::kForcedBlobGC});
    }
  }
}

// Adds a victim. The tables of the first victim that can be compacted are enough: compactions write
// the values of all victims anew, whichever table they were started for.
void AddVictim(const Version& version, const BlobFileState& file, DueFiles* due) {
  if (due->blob_tables.empty()) AddTables(version, file.number(), &due->blob_tables);
  due->blob_victims.push_back(file.number());
}

// Bytes of blob files, and the known garbage among them.
struct Sums {
  double bytes = 0;
  double garbage = 0;

  void Add(const BlobFileState& file) {
    bytes += static_cast<double>(file.bytes());
    garbage += static_cast<double>(file.garbage_bytes);
  }
  // Subtracts the garbage of a victim, which goes with it.
  void Drop(const BlobFileState& victim) {
    bytes -= static_cast<double>(victim.garbage_bytes);
    garbage -= static_cast<double>(victim.garbage_bytes);
  }
  // True if garbage is more than this share of the bytes.
  [[nodiscard]] bool Exceed(double limit) const { return garbage > limit * bytes; }
};

// Applies rule 2 to the first `eligible` files, whose sums are `old`. Subtracts from *whole what
// goes with the victims.
void AddOldVictims(const Version& version, size_t eligible, double limit, Sums old, Sums* whole,
                   DueFiles* due) {
  if (!old.Exceed(limit)) return;
  for (const Candidate& candidate : Candidates(version, 0, eligible)) {
    AddVictim(version, *candidate.file, due);
    whole->Drop(*candidate.file);
    old.Drop(*candidate.file);
    if (!old.Exceed(limit)) return;
  }
}

// Applies rule 3 to the files from `eligible` on. `whole`: the sums of all files, without the
// garbage of victims so far.
void AddYoungVictims(const Version& version, size_t eligible, double limit, Sums whole,
                     DueFiles* due) {
  if (!whole.Exceed(limit)) return;
  for (const Candidate& candidate : Candidates(version, eligible, version.blob_files().size())) {
    const BlobFileState& file = *candidate.file;
    Sums own;
    own.Add(file);
    if (!own.Exceed(limit)) continue;
    AddVictim(version, file, due);
    whole.Drop(file);
    if (!whole.Exceed(limit)) return;
  }
}

}  // namespace

double BlobGarbageLimit(const ColumnFamilyOptions& options) {
  const double limit = options.blob_garbage_collection_force_threshold;
  return limit >= 1 ? kDefaultLimit : limit;
}

// Sums up bytes and garbage of all files and of the eligible, oldest ones; bounds what is hidden;
// and applies the rules at the head of this file.
void FindBlobVictims(const Version& version, const ColumnFamilyOptions& options, DueFiles* due) {
  const BlobFiles& files = version.blob_files();
  if (!options.enable_blob_garbage_collection || files.empty()) return;
  const double limit = BlobGarbageLimit(options);
  const auto eligible =
      std::min(files.size(), static_cast<size_t>(options.blob_garbage_collection_age_cutoff *
                                                 static_cast<double>(files.size())));
  Sums whole;
  Sums old;
  for (size_t i = 0; i < files.size(); i++) {
    whole.Add(files[i]);
    if (i < eligible) old = whole;
  }
  const Referring referring = Collect(version);
  const uint64_t hidden =
      referring.in_l0 + referring.beneath - std::max(referring.beneath, referring.most_of_l0);
  // If what is known exceeds the limit already, and is in young files, L0 would not mend it.
  due->l0_hides_blob_garbage = hidden > 0 && version.usable_levels() > 1 && !whole.Exceed(limit) &&
                               whole.garbage + static_cast<double>(hidden) > limit * whole.bytes;
  AddOldVictims(version, eligible, limit, old, &whole, due);
  if (options.blob_garbage_collection_age_cutoff > 0) {
    AddYoungVictims(version, eligible, std::max(limit, kDefaultLimit), whole, due);
  }
  std::ranges::sort(due->blob_victims);
}

}  // namespace varve
