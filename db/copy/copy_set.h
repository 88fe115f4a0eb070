// SPDX-License-Identifier: Apache-2.0
#pragma once

// CopySet lists the files that make up a database at one moment, and keeps them from deletion
// while they are copied.
//
// Invariants:
//   1. The files of the set make up a database of their own: the tables of one version of each
//      family, and all newer records of the logs up to one record. Opened, it shows a prefix of the
//      writes.
//   2. Every log ends with a whole record at the size listed, so that each recovery mode takes it.
//      Later bytes of the file are not part of it.
//   3. A file that may be linked is durable and will never be written again.
//   4. Taking a set holds up neither writes, nor jobs, nor the deletion of other files. But if
//      unlogged writes (disableWAL) come again and again meanwhile, writers wait for the flush of
//      the last of them: no log could complete the copy.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "varve/types.h"

#include "db/engine/engine.h"

namespace varve {

// Describes one file of the set. All kinds of files share this form, so that copying code need not
// tell them apart.
struct CopyFile {
  FileType type = kTempFile;
  uint64_t number = 0;    // 0: has none
  std::string directory;  // Directory of the source.
  std::string name;       // Name in the copy, and of the source, unless that has another.
  std::string old_name;   // Name of the source, which LevelDB gave it; empty: it is `name`.
  uint64_t size = 0;      // Bytes from its start.
  bool may_link = false;
  std::optional<std::string> contents;  // The copy gets these instead of the file's.
  FileRef table;                        // Set for a table or blob file: its entry in the MANIFEST.

  const std::string& source_name() const { return old_name.empty() ? name : old_name; }
  std::string Path() const { return directory + "/" + source_name(); }
};

// Says what a copy is to contain, and what is flushed before.
struct CopyWanted {
  const char* call = "copy";            // Name of the call, for messages.
  std::vector<ColumnFamily*> families;  // Besides the default one; empty: all.
  // Lists only the tables of the one family named. NotSupported if it has writes in memory that a
  // read-only database cannot flush.
  bool tables_only = false;
  // Flushes all these families first if the logs have at least this many bytes: 0 always,
  // UINT64_MAX never. Families with writes that no log has are flushed in any case.
  uint64_t log_bytes_for_flush = UINT64_MAX;
  // Families that are flushed go into tables in one step.
  bool flush_together = true;
  // Copies the database's own MANIFEST, up to the end of its current state, instead of writing a
  // new one. Allowed only with all families.
  bool own_manifest = false;
};

// Thread safety: none. It is released before the call that made it returns (Close waits for that).
class CopySet {
 public:
  // InvalidArgument: the database is read-only and some families are not open, or a named family
  // was dropped. NotSupported: a secondary has writes of these families that are in no table.
  // Aborted: a flush is needed, and LockWAL prevents it. Busy: it would wait for work that its own
  // thread has to finish. Also I/O errors.
  static Status Take(Engine* engine, const CopyWanted& wanted, std::unique_ptr<CopySet>* set)
      VARVE_EXCLUDES(kDbMutex);
  ~CopySet();
  CopySet(const CopySet&) = delete;
  CopySet& operator=(const CopySet&) = delete;

  // Returns the files: tables first, CURRENT last.
  const std::vector<CopyFile>& files() const { return files_; }
  // Returns a sequence number that the copy surely contains; as a rule it contains more.
  // The last sequence number of a database that is opened from the copy is not below it.
  SequenceNumber sequence() const { return sequence_; }
  // Returns the names of the families, in the order of their ids.
  std::vector<std::string> family_names() const;
  const VersionState& state() const { return state_; }

 private:
  explicit CopySet(Engine* engine) : engine_(engine) {}

  // Takes the versions, and the logs up to their end, of one moment.
  Status TakeMoment(const CopyWanted& wanted) VARVE_EXCLUDES(kDbMutex);
  Status TakeWithoutWriters(const CopyWanted& wanted) VARVE_EXCLUDES(kDbMutex);
  // Returns the wanted families that have writes in memory that no log has.
  std::vector<std::shared_ptr<ColumnFamily>> UnloggedFamilies(const CopyWanted& wanted) const
      VARVE_REQUIRES(kDbMutex);
  // Flushes families with unlogged writes; with `for_size` all, if the logs are large enough.
  Status Flush(const CopyWanted& wanted, bool for_size) VARVE_EXCLUDES(kDbMutex);
  // NotSupported if writes in memory cannot be part of the copy of a database that is read only.
  Status CheckNothingInMemory(const CopyWanted& wanted) const VARVE_REQUIRES(kDbMutex);
  Status Pin(const CopyWanted& wanted) VARVE_REQUIRES(kDbMutex);
  // Leaves only the default family and the wanted ones in state_.
  Status Choose(const CopyWanted& wanted) VARVE_REQUIRES(kDbMutex);
  // Adds blob files, too. Finds out which tables LevelDB has named: these have no unique id.
  void AddTables();
  // Waits until the records up to the listed ends are in the files of the logs.
  Status HandOverLogs();
  // Lets the logs be deleted again.
  void Unpin() noexcept;
  // Add the files of a kind to files_.
  void AddLogs();
  Status AddManifest();
  Status AddOptions();
  void Add(FileType type, uint64_t number, const std::string& name, std::string contents);

  Engine* const engine_;
  std::vector<CopyFile> files_;
  SequenceNumber sequence_ = 0;
  VersionState state_;
  std::vector<LogSet::PinnedLog> logs_;
  uint64_t manifest_number_ = 0;
  uint64_t manifest_bytes_ = 0;  // Bytes of the database's own; 0: a new one is made.
};

}  // namespace varve
