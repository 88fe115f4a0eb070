// SPDX-License-Identifier: Apache-2.0
#include "db/recovery/stale_manifest.h"

#include <algorithm>
#include <memory>
#include <set>

#include "table/table_reader.h"
#include "util/env/absolute_path.h"
#include "util/env/file_names.h"
#include "util/key/internal_key.h"

namespace varve {

namespace {

SequenceNumber NewestKnown(const Version& version) {
  SequenceNumber newest = 0;
  for (int level = 0; level < version.num_levels(); level++) {
    for (const FileRef& file : version.level(level).files()) {
      newest = std::max(newest, file->largest_seq);
    }
  }
  return newest;
}

// True if some entry is newer than `known` and outside `replayed`. A table that cannot be read to
// its end may be unfinished because of a crash, and proves nothing.
bool HoldsNewer(const TableReader& table, SequenceNumber known, const ReplayedRange& replayed) {
  const auto is_newer = [&](SequenceNumber seq) {
    return seq > known && (seq < replayed.first || seq > replayed.last);
  };
  const auto& tombstones = table.tombstones();
  bool newer = tombstones != nullptr && is_newer(tombstones->max_seq());
  const ReadOptions options;
  TableIterOptions iter_options;
  iter_options.for_compaction = true;
  const std::unique_ptr<InternalIterator> it = table.NewIterator(options, iter_options);
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    newer = newer || is_newer(ExtractSequence(it->key()));
  }
  return newer && it->status().ok();
}

// True if the table, of which `facts` has number, size and directory, belongs to the family, and
// has an entry that is newer than all that the MANIFEST has for it, outside of `replayed`. The
// table is in no tree: its level is not known, its entries keep the numbers that they have in the
// file, and its reader is closed again.
bool IsNewerThanFamily(DbState* state, const ColumnFamily& family, const TableFacts& facts,
                       const ReplayedRange& replayed) {
  FileMetaData file;
  static_cast<TableFacts&>(file) = facts;
  file.largest_seq = kMaxSequenceNumber;
  bool newer = false;
  {
    TableRef table;
    if (!family.table_cache()->Find(&file, /*level=*/-1, ReadOptions(), &table).ok()) return false;
    const std::string& name = table.get()->properties()->column_family_name;
    // A table of another database proves nothing about this one.
    const std::string& db_id = table.get()->properties()->db_id;
    const bool foreign = !db_id.empty() && db_id != state->versions->db_id();
    // LevelDB's tables do not name their family.
    const bool of_family =
        name == family.name() || (name.empty() && state->families.all().size() == 1);
    if (of_family && !foreign) {
      VersionRef version;
      {
        DbLock lock(&state->mu);
        version = family.versions()->current;
      }
      newer = HoldsNewer(*table.get(), NewestKnown(*version), replayed);
    }
  }
  family.table_cache()->Evict(facts.number);
  return newer;
}

}  // namespace

// Looks at each table that the MANIFEST neither has nor has deleted, once for each family that has
// its directory. A table that cannot be opened proves nothing.
Status CheckManifestIsNotStale(const DbContext& context, DbState* state,
                               const DirectoryListing& directories, const ReplayedRange& replayed) {
  std::set<uint64_t> known;
  std::vector<VersionRef> held;
  {
    DbLock lock(&state->mu);
    // Tables that the MANIFEST has deleted stay for a while, and may hold the only sequence
    // numbers, since a compaction may have set those of its output to 0.
    known = state->versions->gone_tables();
    state->versions->AddLiveFiles(&known, &held);
  }
  for (const auto& [directory, names] : directories) {
    for (const std::string& name : names) {
      TableFacts table;
      FileType type;
      if (!ParseFileName(name, &table.number, &type) || type != kTableFile) continue;
      if (known.contains(table.number)) continue;
      const std::string path = directory + "/" + name;
      if (!context.fs()->GetFileSize(path, IOOptions(), &table.size, nullptr).ok()) continue;
      for (const auto& [id, family] : state->families.all()) {
        const std::vector<std::string>& of_family = family->table_paths().directories();
        const auto at = std::ranges::find_if(of_family, [&](const std::string& own) {
          const std::string there = own + path.substr(path.rfind('/'));
          return there == path || IsSameFile(context.fs().get(), there, path);
        });
        if (at == of_family.end()) continue;
        table.path_id = static_cast<uint32_t>(at - of_family.begin());
        if (!IsNewerThanFamily(state, *family, table, replayed)) continue;
        return Status::Corruption(
            path, "holds entries of column family " + family->name() +
                      " that are newer than the MANIFEST and the logs, and the log they came from "
                      "is gone: the MANIFEST's end is missing; nothing was changed");
      }
    }
  }
  return Status::OK();
}

}  // namespace varve
