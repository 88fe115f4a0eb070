// SPDX-License-Identifier: Apache-2.0
#pragma once

// CopySet: the files that are a database as it is at one moment, kept from deletion while they are
// copied.
//
// Invariants:
//   1. What the set lists is a database of its own: tables of one version of each family, and all
//      that the logs hold beyond them, up to one record. Opened, it shows a prefix of the writes.
//   2. Every log ends with a whole record at the size listed, so that each recovery mode takes it.
//      What is in the file after that, or comes there meanwhile, is not part of it.
//   3. A file that may be linked is durable, and nobody will write to it again.
//   4. Nothing is held up meanwhile: neither writes, nor jobs, nor the deletion of other files.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "varve/types.h"

#include "db/engine/engine.h"

namespace varve {

// One file of the set. Every kind of file of a database is one of these, so that what copies them
// asks for no kind.
struct CopyFile {
  FileType type = kTempFile;
  uint64_t number = 0;    // 0 where it has none
  std::string directory;  // of the source
  std::string name;       // in that, and in the copy
  uint64_t size = 0;      // so many bytes from its start
  bool may_link = false;
  std::optional<std::string> contents;  // what the copy has instead of the file
  FileRef table;                        // of a table: what the MANIFEST says

  std::string Path() const { return directory + "/" + name; }
};

struct CopyWanted {
  const char* call = "copy";            // for messages
  std::vector<ColumnFamily*> families;  // beside the default one; empty: all
  // Only the tables of the one family that is named are listed. NotSupported if it has writes in
  // memory, and a database that is read only cannot flush them.
  bool tables_only = false;
  // All these families are flushed first if the logs have so many bytes: 0 always, UINT64_MAX
  // never. Families with writes that no log has are flushed in any case.
  uint64_t log_bytes_for_flush = UINT64_MAX;
  // Families that are flushed go into tables in one step.
  bool flush_together = true;
  // The database's own MANIFEST, up to where it says what is in force, and not one that is made for
  // the copy. Only of all families.
  bool own_manifest = false;
};

// Thread safety: none. It is released before the call that made it returns (Close waits for that).
class CopySet {
 public:
  // InvalidArgument: of a database that is read only some families are not open, or one of those
  // named was dropped. Aborted: a flush is needed, and LockWAL keeps it out. Busy: it would wait
  // for what its own thread has to finish. I/O.
  static Status Take(Engine* engine, const CopyWanted& wanted, std::unique_ptr<CopySet>* set)
      VARVE_EXCLUDES(kDbMutex);
  ~CopySet();
  CopySet(const CopySet&) = delete;
  CopySet& operator=(const CopySet&) = delete;

  // Tables first, CURRENT last.
  const std::vector<CopyFile>& files() const { return files_; }
  // Surely contained; as a rule more is.
  SequenceNumber sequence() const { return sequence_; }
  // The names of the families, in the order of their ids.
  std::vector<std::string> family_names() const;
  const VersionState& state() const { return state_; }

 private:
  explicit CopySet(Engine* engine) : engine_(engine) {}

  Status Flush(const CopyWanted& wanted) VARVE_EXCLUDES(kDbMutex);
  Status CheckNothingInMemory(const CopyWanted& wanted) const VARVE_EXCLUDES(kDbMutex);
  Status Pin(const CopyWanted& wanted) VARVE_REQUIRES(kDbMutex);
  // Leaves in state_ the default family and those that are wanted.
  Status Choose(const CopyWanted& wanted) VARVE_REQUIRES(kDbMutex);
  void AddTables();
  Status AddLogs();
  Status AddManifest();
  Status AddOptions();
  void Add(FileType type, uint64_t number, const std::string& name, std::string contents);

  Engine* const engine_;
  std::vector<CopyFile> files_;
  SequenceNumber sequence_ = 0;
  VersionState state_;
  std::vector<LogSet::PinnedLog> logs_;
  uint64_t manifest_number_ = 0;
  uint64_t manifest_bytes_ = 0;  // of the database's own; 0: a fresh one is made
};

}  // namespace varve
