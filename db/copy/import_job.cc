// SPDX-License-Identifier: Apache-2.0

// Order
// 1. Link or copy the files into ingest/, under new numbers.
// 2. Read each table completely; compare it with the metadata that came with it.
// 3. Check that the key ranges of several sources do not overlap, and assign epochs, which order
//    L0.
// 4. Rename the tables to their places, raise the sequence number above theirs, and create the
//    family with them in one atomic group of the MANIFEST.
// 5. With move_files, unlink the originals.
//
// An error before the end of step 4 removes the files, except those that a MANIFEST names or may
// name: after a failed write it is unknown whether it has the edit.

#include "db/copy/import_job.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "db/background/jobs.h"
#include "db/copy/copy_pool.h"
#include "db/copy/data_move.h"
#include "db/engine/engine.h"
#include "db/recovery/families.h"
#include "db/recovery/sanitize.h"
#include "db/recovery/table_survey.h"
#include "db/version/version_builder.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/file_checksums.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

constexpr char kCall[] = "CreateColumnFamilyWithImport";

// Larger sequence numbers are refused, so that enough are left for later writes.
constexpr SequenceNumber kSequenceMax = kMaxSequenceNumber / 2;

// A table to import. `told` is its metadata, which the caller gave.
struct Table {
  const LiveFileMetaData* told = nullptr;
  size_t source = 0;   // Index of its source.
  std::string path;    // Path of the original.
  std::string staged;  // Path in ingest/; empty once renamed.
  NewFile file;
};

// Performs one import. Before Commit it changes nothing in the database but the counter of file
// numbers. Tables are described by their own contents; the metadata only supplies what they do not
// contain: levels, the order in L0, and the bounds within which range deletions act.
class Import {
 public:
  Import(Engine* engine, const ImportWanted& wanted)
      : e_(*engine), wanted_(wanted), options_(wanted.family.options), icmp_(options_.comparator) {}

  Status Run(std::unique_ptr<ColumnFamilyHandle>* handle, DataMoveInfo* info) {
    VARVE_RETURN_IF_ERROR(Check());
    paths_ = ToOpen(e_.context, wanted_.family).paths;
    Status s = Guarded([&]() -> Status {
      // All checks run on staged files, before Commit changes the database.
      VARVE_RETURN_IF_ERROR(Stage(info));
      for (Table& table : tables_) VARVE_RETURN_IF_ERROR(Examine(&table));
      VARVE_RETURN_IF_ERROR(CheckSourcesAreApart());
      GiveEpochs();
      return Commit(handle);
    });
    if (s.ok()) {
      AfterCommit();
    } else {
      RemoveFiles();
    }
    if (!staging_.empty()) e_.staged_ingestions->LeaveDirectory(e_.context.fs().get(), staging_);
    return s;
  }

 private:
  Status Check();
  Status CheckSource(size_t index);
  Status Stage(DataMoveInfo* info);
  Status Examine(Table* table);
  Status TakeBounds(const TableFinding& finding, Table* table) const;
  Status TakeChecksum(Table* table) const;
  Status CheckSourcesAreApart() const;
  void GiveEpochs();
  Status Commit(std::unique_ptr<ColumnFamilyHandle>* handle);
  void AfterCommit() noexcept;
  void RemoveFiles() noexcept;
  void RemoveFile(const Table& table);
  // Returns true if a MANIFEST names the table, or may name it.
  bool MayBeNamed(const Table& table) const VARVE_REQUIRES(kDbMutex);

  std::string PathOf(const Table& table) const { return paths_->FileName(table.file); }

  Engine& e_;
  const ImportWanted& wanted_;
  const ColumnFamilyOptions& options_;
  const InternalKeyComparator icmp_;
  TablePathsRef paths_;
  std::string staging_;  // Staging directory that was entered; empty: none.
  std::vector<Table> tables_;
};

// Checks the call's arguments, and the metadata of all sources, before any file is looked at.
Status Import::Check() {
  if (wanted_.sources.empty()) return Status::InvalidArgument(kCall, "there is no metadata");
  VARVE_RETURN_IF_ERROR(PrepareTableFactory(options_));
  VARVE_RETURN_IF_ERROR(CheckFamily(e_.context.options(), wanted_.family));
  {
    DbLock lock(&e_.state.mu);
    if (e_.state.families.FindByName(wanted_.family.name) != nullptr) {
      return Status::InvalidArgument(kCall,
                                     "column family " + wanted_.family.name + " exists already");
    }
  }
  for (size_t i = 0; i < wanted_.sources.size(); i++) VARVE_RETURN_IF_ERROR(CheckSource(i));
  return Status::OK();
}

// Checks the metadata of one source, and adds its tables to tables_.
Status Import::CheckSource(size_t index) {
  const ExportImportFilesMetaData* const source = wanted_.sources[index];
  if (source == nullptr) return Status::InvalidArgument(kCall, "the metadata is null");
  if (source->files.empty()) return Status::InvalidArgument(kCall, "the metadata names no files");
  if (source->db_comparator_name != options_.comparator->Name()) {
    return Status::InvalidArgument(kCall, "the files are ordered by " + source->db_comparator_name +
                                              ", and the family by " + options_.comparator->Name());
  }
  for (const LiveFileMetaData& told : source->files) {
    const std::string name = told.name.starts_with('/') ? told.name.substr(1) : told.name;
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(name, &number, &type) || type != kTableFile) {
      return Status::InvalidArgument(kCall, "\"" + told.name + "\" is no name of a table");
    }
    const FamilyToOpen family = ToOpen(e_.context, wanted_.family);
    // A table may be deeper than num_levels, as compactions move it up, unless the last level is
    // reserved.
    const int levels = family.reserves_last_level ? family.num_levels : kMostLevels;
    if (told.level < 0 || told.level >= levels) {
      return Status::InvalidArgument(kCall, told.name + " is of level " +
                                                std::to_string(told.level) + ", and the family " +
                                                "has " + std::to_string(levels));
    }
    if (told.oldest_blob_file_number != 0) {
      return Status::NotSupported(kCall, told.name + " refers to values in blob files, which an " +
                                             "import does not bring");
    }
    Table& table = tables_.emplace_back();
    table.told = &told;
    table.source = index;
    table.path = told.db_path + "/" + name;
  }
  return Status::OK();
}

// Links or copies the files to the staging directory, and makes their contents durable, but not
// their names. Ingestions use the same directory, which the next opening empties after a crash.
Status Import::Stage(DataMoveInfo* info) {
  FileSystem* const fs = e_.context.fs().get();
  VARVE_RETURN_IF_ERROR(MakeTableDirectories(&e_, wanted_.family));
  const std::string staging = StagingDirectory(paths_->directory(0));
  VARVE_RETURN_IF_ERROR(e_.staged_ingestions->EnterDirectory(fs, staging));
  staging_ = staging;
  std::vector<CopyTask> tasks;
  for (Table& table : tables_) {
    table.file.number = e_.state.versions->NewFileNumber();
    table.staged = TableFileName(staging, table.file.number);
    // After a crash, a number that the MANIFEST did not record may be given out again.
    const IOStatus gone = fs->DeleteFile(table.staged, IOOptions(), nullptr);
    if (!gone.ok() && !IsMissing(gone)) return gone;
    CopyTask& task = tasks.emplace_back();
    task.source = table.path;
    task.target = table.staged;
    task.size = table.told->size;
    // A link is allowed only with move_files, by which the caller gives up the file and will not
    // write to it.
    task.may_link = wanted_.move_files;
  }
  CopyPool::Options options;
  options.source_fs = fs;
  options.target_fs = fs;
  options.stop = &e_.lifecycle.shutting_down_flag();
  options.statistics = e_.context.statistics();
  const Status s = CopyPool(options).Run(&tasks);
  if (s.IsIncomplete() && e_.lifecycle.shutting_down()) {
    return Status::ShutdownInProgress(kCall, "the database is being closed");
  }
  VARVE_RETURN_IF_ERROR(s);
  CountFiles(tasks, info);
  for (const CopyTask& task : tasks) {
    // The pool has synced the copies, but a linked file may never have been synced.
    if (!task.linked) continue;
    VARVE_RETURN_IF_ERROR(fs->SyncFile(task.target, e_.context.file_options(), IOOptions(),
                                       e_.context.options().use_fsync, nullptr));
  }
  return Status::OK();
}

// Reads the whole table, and sets table->file from its contents and from the metadata. Corruption:
// the table is damaged, or contradicts the metadata.
Status Import::Examine(Table* table) {
  const LiveFileMetaData& told = *table->told;
  const TableSurveyContext context{e_.context.fs().get(), &options_, &icmp_};
  std::shared_ptr<const TableProperties> properties;
  Status s = ReadTableProperties(context, table->staged, &properties);
  if (!s.ok()) return Status::Corruption(table->path, s.ToString());
  NewFile known;
  known.number = table->file.number;
  known.size = told.size;
  known.largest_seq = told.largest_seqno;
  known.timestamps_persisted = properties->user_defined_timestamps_persisted != 0;
  if (icmp_.timestamp_size() != 0 &&
      known.timestamps_persisted != options_.persist_user_defined_timestamps) {
    return Status::InvalidArgument(
        table->path, "persist_user_defined_timestamps is not as it was when the table was written");
  }
  TableFinding finding;
  // The metadata may be wrong or of another file, so the table is described by its contents.
  ExamineTable(context, table->staged, table->file.number, &known, &finding);
  if (finding.state != TableFinding::State::kSound) {
    return Status::Corruption(table->path, finding.why.ToString());
  }
  if (!finding.comparator_name.empty() && finding.comparator_name != options_.comparator->Name()) {
    return Status::InvalidArgument(table->path, "is ordered by " + finding.comparator_name);
  }
  // The caller's metadata may lack the number of the blob file.
  if (finding.file.oldest_blob_file_number != 0) {
    return Status::NotSupported(table->path,
                                "refers to values in blob files, which an import does not bring");
  }
  table->file = finding.file;
  table->file.level = told.level;
  table->file.temperature = told.temperature;
  if (table->file.largest_seq > std::min<SequenceNumber>(told.largest_seqno, kSequenceMax)) {
    return Status::Corruption(table->path, "has the sequence number " +
                                               std::to_string(table->file.largest_seq) +
                                               ", beyond what there can be");
  }
  VARVE_RETURN_IF_ERROR(TakeBounds(finding, table));
  return TakeChecksum(table);
}

// Sets the bounds of the table from the metadata, if it has them. Range tombstones may extend
// beyond the bounds with which a table was exported, and act only within them.
Status Import::TakeBounds(const TableFinding& finding, Table* table) const {
  const LiveFileMetaData& told = *table->told;
  NewFile& file = table->file;
  if (told.smallest.empty() && told.largest.empty()) {
    if (!finding.has_tombstones) return Status::OK();
    return Status::InvalidArgument(
        table->path,
        "has range deletions, and the metadata lacks the bounds within which they "
        "act: export it with a version that gives them");
  }
  InternalKey smallest;
  InternalKey largest;
  const size_t least = kInternalKeyTrailerBytes + icmp_.timestamp_size();
  const bool sound = told.smallest.size() >= least && told.largest.size() >= least &&
                     smallest.DecodeFrom(told.smallest) && largest.DecodeFrom(told.largest) &&
                     icmp_.Compare(smallest.Encode(), largest.Encode()) <= 0;
  const bool holds_points =
      sound && (finding.first_point.empty() ||
                (icmp_.Compare(smallest.Encode(), finding.first_point.Encode()) <= 0 &&
                 icmp_.Compare(finding.last_point.Encode(), largest.Encode()) <= 0));
  if (!holds_points) {
    return Status::Corruption(table->path, "the bounds in the metadata are not the table's");
  }
  file.smallest = smallest;
  file.largest = largest;
  return Status::OK();
}

// Compares the file checksum of the metadata, if there is one, or else computes one if the database
// keeps checksums.
Status Import::TakeChecksum(Table* table) const {
  const LiveFileMetaData& told = *table->told;
  FileChecksumGenFactory* const factory = e_.context.options().file_checksum_gen_factory.get();
  const bool given = !told.file_checksum_func_name.empty() &&
                     told.file_checksum_func_name != kUnknownFileChecksumFuncName;
  if (given) table->file.checksum = {told.file_checksum, told.file_checksum_func_name};
  if (factory == nullptr) return Status::OK();
  std::unique_ptr<FileChecksumGenerator> generator;
  const Status s = NewFileChecksum(factory, table->staged,
                                   given ? told.file_checksum_func_name : "", &generator);
  // A checksum of a function that this database does not have is kept unverified.
  if (given && s.IsNotSupported()) return Status::OK();
  VARVE_RETURN_IF_ERROR(s);
  if (generator == nullptr) return Status::OK();
  VARVE_RETURN_IF_ERROR(ChecksumOfFile(e_.context.fs().get(), table->staged,
                                       e_.context.file_options(), generator.get()));
  const std::string actual = generator->GetChecksum();
  if (given && actual != told.file_checksum) {
    return Status::Corruption(table->path, "the checksum of the file is " +
                                               Slice(actual).ToString(/*hex=*/true) +
                                               ", and the metadata has " +
                                               Slice(told.file_checksum).ToString(/*hex=*/true));
  }
  table->file.checksum = {actual, generator->Name()};
  return Status::OK();
}

// Refuses sources whose key ranges overlap, as it is unknown which of them is newer.
Status Import::CheckSourcesAreApart() const {
  struct Span {
    InternalKey smallest;
    InternalKey largest;
  };
  std::vector<Span> spans(wanted_.sources.size());
  for (const Table& table : tables_) {
    Span& span = spans[table.source];
    if (span.smallest.empty() ||
        icmp_.Compare(table.file.smallest.Encode(), span.smallest.Encode()) < 0) {
      span.smallest = table.file.smallest;
    }
    if (span.largest.empty() ||
        icmp_.Compare(table.file.largest.Encode(), span.largest.Encode()) > 0) {
      span.largest = table.file.largest;
    }
  }
  std::sort(spans.begin(), spans.end(), [this](const Span& a, const Span& b) {
    return icmp_.Compare(a.smallest.Encode(), b.smallest.Encode()) < 0;
  });
  for (size_t i = 1; i < spans.size(); i++) {
    const InternalKey& end = spans[i - 1].largest;
    const int order = icmp_.CompareKey(icmp_.KeyOf(end), icmp_.KeyOf(spans[i].smallest));
    // A bound with the largest sequence number is the end of a range tombstone, which the table
    // does not contain.
    const bool exclusive = end.sequence() == kMaxSequenceNumber;
    if (order < 0 || (order == 0 && exclusive)) continue;
    return Status::InvalidArgument(kCall, "the files of two exports have keys in common ranges");
  }
  return Status::OK();
}

// Assigns new epochs, since those of different sources cannot be compared. Tables of deeper levels,
// which the order puts first, all get 1. The tables of L0 get different ones from 1 on, in the
// order of their sources and within a source in its own order.
void Import::GiveEpochs() {
  std::vector<Table*> newest_last;
  for (Table& table : tables_) newest_last.push_back(&table);
  std::sort(newest_last.begin(), newest_last.end(), [](const Table* a, const Table* b) {
    const auto rank = [](const Table& t) {
      return std::make_tuple(t.told->level == 0, t.source, t.told->epoch_number,
                             t.told->largest_seqno, t.told->smallest_seqno, t.file.number);
    };
    // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
    return VARVE_CANARY(kImportReversesEpochs) ? rank(*b) < rank(*a) : rank(*a) < rank(*b);
  });
  uint64_t next = 1;
  for (Table* table : newest_last) {
    table->file.epoch_number = next;
    if (table->file.level == 0) next++;
  }
}

// Renames the tables to their places, and then creates the family by an edit that names them.
Status Import::Commit(std::unique_ptr<ColumnFamilyHandle>* handle) {
  FileSystem* const fs = e_.context.fs().get();
  std::vector<NewFile> files;
  SequenceNumber newest = 0;
  for (const Table& table : tables_) {
    files.push_back(table.file);
    newest = std::max(newest, table.file.largest_seq);
  }
  for (Table& table : tables_) {
    VARVE_RETURN_IF_ERROR(fs->RenameFile(table.staged, PathOf(table), IOOptions(), nullptr));
    // From here on RemoveFiles finds the table under its final name.
    table.staged.clear();
  }
  // Later writes must get sequence numbers above those of the tables. Writers wait until the family
  // exists, as they look up families without a lock.
  const ExclusiveCommit exclusive(e_.state.commit.get());
  {
    // These sequence numbers belong to a family that does not exist yet, so change streams cannot
    // tell which families they belong to.
    DbLock lock(&e_.state.mu);
    if (newest > e_.state.versions->last_sequence()) e_.state.families_known_from = newest + 1;
  }
  // Readers see the new entries only if the visible sequence number covers them.
  e_.state.commit->RaiseTo(newest);
  return CreateFamily(&e_, wanted_.family, handle, files);
}

// Schedules compactions, and deletes the sources of a move. Errors are ignored, since the family
// exists.
void Import::AfterCommit() noexcept {
  BestEffort([this] {
    for (const Table& table : tables_) e_.context.NoteTable(*paths_, table.file);
    DbLock lock(&e_.state.mu);
    e_.stalls.Update();
    ColumnFamily* const family = e_.state.families.FindByName(wanted_.family.name);
    if (family != nullptr) e_.jobs->compaction.Schedule(family);
  });
  if (!wanted_.move_files) return;
  for (const Table& table : tables_) {
    BestEffort([&] {
      e_.context.fs()->DeleteFile(table.path, IOOptions(), nullptr).PermitUncheckedError();
    });
  }
}

// A failed call may leave the family in the MANIFEST, if dropping it failed as well.
bool Import::MayBeNamed(const Table& table) const {
  if (e_.state.versions->TableInDoubt(table.file.number)) return true;
  for (const auto& [id, family] : e_.state.versions->families()) {
    if (table.file.level >= family->current->num_levels()) continue;
    for (const FileRef& file : family->current->level(table.file.level).files()) {
      if (file->number == table.file.number) return true;
    }
  }
  return false;
}

// Deletes the files of a failed import, except those that a MANIFEST may name.
void Import::RemoveFiles() noexcept {
  for (const Table& table : tables_) {
    BestEffort([&] { RemoveFile(table); });
  }
}

void Import::RemoveFile(const Table& table) {
  if (table.file.number == 0) return;
  {
    DbLock lock(&e_.state.mu);
    if (MayBeNamed(table)) return;
  }
  e_.context.fs()
      ->DeleteFile(table.staged.empty() ? PathOf(table) : table.staged, IOOptions(), nullptr)
      .PermitUncheckedError();
}

}  // namespace

Status ImportFamily(Engine* engine, const ImportWanted& wanted,
                    std::unique_ptr<ColumnFamilyHandle>* handle) {
  std::string path;
  if (!wanted.sources.empty() && wanted.sources.front() != nullptr &&
      !wanted.sources.front()->files.empty()) {
    path = wanted.sources.front()->files.front().db_path;
  }
  return MoveData(engine, DataMoveInfo::Kind::kImport, path, [&](DataMoveInfo* info) {
    info->families.push_back(wanted.family.name);
    return Import(engine, wanted).Run(handle, info);
  });
}

}  // namespace varve
