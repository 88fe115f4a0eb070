// SPDX-License-Identifier: Apache-2.0
#pragma once

// Two-phase commit in logs: prepared sections, put into memtables where they were committed.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "varve/file_system.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"
#include "varve/write_batch.h"

#include "db/column_family/memtable_resolver.h"
#include "db/engine/recovery_report.h"
#include "db/write/section_records.h"

namespace varve {

// Sets *has_sections to whether the log has marks of two-phase commit. What is damaged in it is
// passed over.
Status HasSections(FileSystem* fs, const FileOptions& options, const std::string& path,
                   uint64_t number, bool* has_sections);

// A section's updates belong where its commit stands, so the commit's log decides which families
// have them in tables already. A decision about a name of which no section was met concerns one
// whose log has gone: it was released when all of that was in tables.
//
// Sections of RocksDB's WRITE_PREPARED are another thing: it has put them into memtables, and by
// now perhaps into tables, where they were prepared. There they belong, too, once they are
// committed; with a rollback come updates that undo them. While one is undecided nothing can be
// done with it.
//
// Thread safety: none.
class SectionReplay {
 public:
  explicit SectionReplay(RecoveryReport* report) : report_(*report) {}

  // Applies a record with marks, whose structure was checked, of the log `log`. The resolver knows
  // which log that is. Sets *next_sequence to one past the last that was given. With a place for an
  // unknown commit: if the record has one, its name goes there, and nothing is applied.
  Status Apply(const Slice& record, uint64_t log, MemTableResolver* resolver,
               SequenceNumber* next_sequence, std::string* unknown_commit);

  // What is undecided after all logs.
  struct Section {
    uint64_t log = 0;
    WriteBatch updates;
  };
  std::map<std::string, Section>& undecided() { return undecided_; }
  // What was committed, from KeepCommitted on, until ForgetCommitted says that all families have
  // the logs before this one in tables: an opening would need the section's log for the commit's.
  struct Committed {
    uint64_t log = 0;
    uint64_t decision_log = 0;
    std::vector<uint32_t> families;  // in the order in which they were met
    WriteBatch sample;               // one update of each
  };
  void KeepCommitted() { keeps_committed_ = true; }
  const std::vector<Committed>& committed() const { return committed_; }
  void ForgetCommitted(uint64_t before);
  // The oldest log of what is undecided, or kept as committed; UINT64_MAX: there is none.
  uint64_t OldestLog() const;
  // NotSupported, naming those that RocksDB has put into memtables undecided, if there are any.
  Status CheckWritten() const;
  bool met_any() const { return met_any_; }

 private:
  // Whether a part of the record ends a section that is in memtables: its updates share a number.
  bool DecidesWritten(const std::vector<SectionPart>& parts) const;
  // Empty if there is none.
  std::string FindUnknownCommit(const std::vector<SectionPart>& parts) const;
  // Of a commit with a timestamp; those families get it whose timestamps are of its size.
  static Status Stamp(const Slice& timestamp, MemTableResolver* resolver, WriteBatch* updates);
  void NoteCommitted(const Section& section, uint64_t decision_log);
  static Status Insert(const WriteBatch& updates, MemTableResolver* resolver,
                       SequenceNumber* next_sequence);

  RecoveryReport& report_;
  std::map<std::string, Section> undecided_;
  std::set<std::string> written_;  // undecided ones that are in memtables
  // Of sections that were met: those that are logged again after that stay decided.
  std::set<std::string> decided_;
  bool met_any_ = false;
  bool keeps_committed_ = false;
  std::vector<Committed> committed_;
};

}  // namespace varve
