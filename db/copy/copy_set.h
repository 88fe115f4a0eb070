// SPDX-License-Identifier: Apache-2.0
#pragma once

// CopySet lists the files that make up a database at one moment, and keeps them from deletion
// while they are copied.
//
// Invariants:
//   1. The files of the set make up a database of their own: the tables of one version of each
//      family, and all newer records of the logs up to one record. Opened, it shows a prefix of the
//      writes.
//   2. Every log ends with a whole record at the listed size, so that every recovery mode accepts
//      it. Later bytes of the file are not part of the set.
//   3. A file that may be linked is durable and will never be written again.
//   4. Taking a set blocks neither writes, nor background jobs, nor the deletion of other files.
//      Only if unlogged writes (disableWAL) keep arriving meanwhile, writers wait for a flush of
//      them, since no log has them.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "varve/types.h"

#include "db/engine/engine.h"

namespace varve {

// Describes one file of the set. Code that copies files does not distinguish their types.
struct CopyFile {
  FileType type = kTempFile;
  uint64_t number = 0;    // 0 if it has none.
  std::string directory;  // Directory of the source.
  std::string name;       // Name in the copy, and of the source unless old_name is set.
  std::string old_name;   // LevelDB's name of the source; empty: it is `name`.
  uint64_t size = 0;      // Bytes to copy from its start.
  bool may_link = false;
  std::optional<std::string> contents;  // If set, the copy's bytes.
  FileRef table;                        // Set for a table or blob file: its entry in the MANIFEST.

  const std::string& source_name() const { return old_name.empty() ? name : old_name; }
  std::string Path() const { return directory + "/" + source_name(); }
};

// Options of a copy: what it contains, and what is flushed before.
struct CopyWanted {
  const char* call = "copy";            // Name of the call, for messages.
  std::vector<ColumnFamily*> families;  // In addition to the default one; empty: all.
  // Lists only the tables of the one family in `families`. NotSupported if a read-only database has
  // writes of it in memory.
  bool tables_only = false;
  // Flushes the families first if the logs have at least this many bytes; 0 means always,
  // UINT64_MAX never. Families with unlogged writes are flushed in any case.
  uint64_t log_bytes_for_flush = UINT64_MAX;
  // Flushes families atomically.
  bool flush_together = true;
  // Lists the database's own MANIFEST, up to its current end, instead of a new one. Requires that
  // `families` is empty.
  bool own_manifest = false;
};

// Thread safety: none. Must be destroyed within the public call that took it, for which Close
// waits.
class CopySet {
 public:
  // Flushes what `wanted` asks for, and takes the set. InvalidArgument: the database is read-only
  // and some families are not open, or a named family was dropped. NotSupported: a secondary, or
  // with tables_only a read-only database, has writes of these families that are in no table.
  // Aborted: a flush is needed, and LockWAL prevents it. Busy: the call would wait for work of its
  // own thread. Otherwise an I/O error.
  static Status Take(Engine* engine, const CopyWanted& wanted, std::unique_ptr<CopySet>* set)
      VARVE_EXCLUDES(kDbMutex);
  ~CopySet();
  CopySet(const CopySet&) = delete;
  CopySet& operator=(const CopySet&) = delete;

  // Returns the files: tables first, CURRENT last.
  const std::vector<CopyFile>& files() const { return files_; }
  // Returns a sequence number up to which the copy contains all writes; usually it contains later
  // ones too. A database that is opened from the copy has at least this last sequence number.
  SequenceNumber sequence() const { return sequence_; }
  // Returns the names of the families, in the order of their ids.
  std::vector<std::string> family_names() const;
  // Returns the versions of the families in the set, as a MANIFEST records them.
  const VersionState& state() const { return state_; }

 private:
  // Waits until no hole is being punched into a blob file; then none is while the set exists.
  explicit CopySet(Engine* engine) VARVE_EXCLUDES(kDbMutex);

  // Flushes and pins, repeatedly while unlogged writes arrive, so that versions and logs are of one
  // moment.
  Status TakeMoment(const CopyWanted& wanted) VARVE_EXCLUDES(kDbMutex);
  // Does what TakeMoment does, while writers are blocked.
  Status TakeWithoutWriters(const CopyWanted& wanted) VARVE_EXCLUDES(kDbMutex);
  // Returns the wanted families that have unlogged writes in memory.
  std::vector<std::shared_ptr<ColumnFamily>> UnloggedFamilies(const CopyWanted& wanted) const
      VARVE_REQUIRES(kDbMutex);
  // Flushes families with unlogged writes; with `for_size`, all wanted families if the logs are
  // large enough.
  Status Flush(const CopyWanted& wanted, bool for_size) VARVE_EXCLUDES(kDbMutex);
  // Returns NotSupported if a read-only database has writes in memory that its copy would lack.
  Status CheckNothingInMemory(const CopyWanted& wanted) const VARVE_REQUIRES(kDbMutex);
  // Takes the current versions and the numbers of the MANIFEST, and keeps the logs that they need
  // from deletion.
  Status Pin(const CopyWanted& wanted) VARVE_REQUIRES(kDbMutex);
  // Removes the families that are not wanted from state_.
  Status Choose(const CopyWanted& wanted) VARVE_REQUIRES(kDbMutex);
  // Adds tables and blob files to files_, and finds LevelDB's names of tables without a unique id.
  void AddTables();
  // Waits until all records up to the listed ends are in the files of the logs.
  Status HandOverLogs();
  // Allows the deletion of the logs again.
  void Unpin() noexcept;
  // Add the files of one type to files_.
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
  uint64_t manifest_bytes_ = 0;  // Size of the database's own; 0: a new one is made.
};

}  // namespace varve
