// SPDX-License-Identifier: Apache-2.0

// A version is pinned under the DB mutex and then read without it. So a list is of one moment,
// files that it names cannot be deleted while it is made, and opening tables does not block others.
// The mutex is taken briefly for each file to read being_compacted, which may change. Counts and
// times that an older MANIFEST lacks are read from the properties of the table.
//
// Logs are not part of a version. ListLogs and DescribeCurrentLog keep obsolete files from being
// deleted (KeepFiles) while they read the first record of each log for its sequence number.
// Archived logs may still be deleted, and are then omitted. A log that is archived meanwhile is
// listed once, as only logs older than the oldest live one are taken from the archive.
//
// The size of a key range includes the whole size of each table within it. For a table that extends
// beyond it, the index gives the offsets of the range's ends.

#include "db/observe/metadata.h"

#include <algorithm>
#include <utility>

#include "db/background/jobs.h"
#include "db/engine/engine.h"
#include "db/engine/log_archive.h"
#include "db/wal/log_reader.h"
#include "db/write/batch_reader.h"
#include "db/write/predecessor_log.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/coding/fixed.h"
#include "util/env/file_names.h"
#include "util/env/sequential_file_reader.h"

namespace varve {

namespace {

// A family and its version when it was pinned.
struct PinnedVersion {
  VersionRef version;
  std::shared_ptr<ColumnFamily> family;
};

PinnedVersion Pin(Engine* engine, ColumnFamily* family) {
  DbLock lock(&engine->state.mu);
  return PinnedVersion{family->current(), family->shared_from_this()};
}

std::vector<PinnedVersion> PinAll(Engine* engine) {
  DbLock lock(&engine->state.mu);
  std::vector<PinnedVersion> result;
  for (const auto& [id, family] : engine->state.families.all()) {
    result.push_back(PinnedVersion{family->current(), family});
  }
  return result;
}

void FillFile(const FileMetaData& file, SstFileMetaData* out) {
  VARVE_ASSERT(file.number != 0);
  out->relative_filename = TableFileBaseName(file.number);
  // RocksDB's older interface: db_path and this name form the path.
  out->name = "/" + out->relative_filename;
  out->directory = file.paths->directory(file.path_id);
  out->db_path = out->directory;
  out->file_number = file.number;
  out->size = file.size;
  out->temperature = file.temperature;
  out->file_checksum = file.checksum.value;
  out->file_checksum_func_name = file.checksum.function;
  out->smallest_seqno = file.smallest_seq;
  out->largest_seqno = file.largest_seq;
  out->smallestkey = file.smallest.user_key().ToString();
  out->largestkey = file.largest.user_key().ToString();
  out->being_compacted = file.notes.being_compacted;
  out->num_entries = file.counts().entries;
  out->num_deletions = file.counts().deletions;
  out->oldest_ancester_time = file.times.oldest_ancestor;
  out->file_creation_time = file.times.created;
  out->epoch_number = file.epoch_number;
  out->oldest_blob_file_number = file.oldest_blob_file_number;
}

// Sets the entry counts from the table's properties if the MANIFEST does not have them.
void FillCounts(TableCache* cache, FileMetaData* file, int level, SstFileMetaData* out) {
  if (out->num_entries != 0) return;
  TableRef table;
  // A table that cannot be opened is listed without counts; a read of it returns the error.
  if (!cache->Find(file, level, ReadOptions(), &table).ok()) return;
  out->num_entries = table->properties()->num_entries;
  out->num_deletions = table->properties()->num_deletions;
}

class ListedLog final : public LogFile {
 public:
  ListedLog(uint64_t number, uint64_t bytes, SequenceNumber start, WalFileType type = kAliveLogFile)
      : number_(number), bytes_(bytes), start_(start), type_(type) {}
  std::string PathName() const override {
    return (type_ == kArchivedLogFile ? "/archive/" : "/") + LogFileBaseName(number_);
  }
  uint64_t LogNumber() const override { return number_; }
  WalFileType Type() const override { return type_; }
  SequenceNumber StartSequence() const override { return start_; }
  uint64_t SizeFileBytes() const override { return bytes_; }

 private:
  const uint64_t number_;
  const uint64_t bytes_;
  const SequenceNumber start_;
  const WalFileType type_;
};

// Returns the sequence number of the log's first batch, or 0 if it has none or cannot be read.
SequenceNumber FirstSequence(Engine* engine, uint64_t number, const std::string& path) {
  VARVE_ASSERT(number != 0);
  std::unique_ptr<SequentialFileReader> file;
  if (!SequentialFileReader::Open(engine->context.fs().get(), path,
                                  engine->context.LogFileOptions(), &file)
           .ok()) {
    return 0;
  }
  wal::LogReader reader(std::move(file), number, path, nullptr);
  Slice record;
  std::string scratch;
  PredecessorLog before;
  // Two kinds of records are no batches: those that name the preceding log, and those that end a
  // log.
  do {
    // Without a further record, or with a damaged one, the log has no batch to name.
    if (!reader.ReadRecord(&record, &scratch, WALRecoveryMode::kPointInTimeRecovery)) return 0;
  } while (ParsePredecessorRecord(record, &before) || IsEndRecord(record));
  return record.size() < kBatchHeaderBytes ? 0 : DecodeFixed64(record.data());
}

SequenceNumber FirstSequence(Engine* engine, uint64_t number) {
  return FirstSequence(engine, number, LogFileName(engine->context.WalDirectory(), number));
}

// Lists the archived logs with numbers below `first_live`, without those that are deleted
// meanwhile.
Status ListArchivedLogs(Engine* engine, uint64_t first_live, VectorLogPtr* files) {
  const LogArchive archive(engine->context);
  std::vector<uint64_t> numbers;
  VARVE_RETURN_IF_ERROR(archive.List(&numbers));
  for (uint64_t number : numbers) {
    // The caller lists the live logs. One that was archived since is in that list already.
    if (number >= first_live) break;
    const std::string path = archive.PathOf(number);
    uint64_t bytes = 0;
    if (!engine->context.fs()->GetFileSize(path, IOOptions(), &bytes, nullptr).ok()) continue;
    if (bytes == 0) continue;
    files->push_back(std::make_unique<ListedLog>(number, bytes, FirstSequence(engine, number, path),
                                                 kArchivedLogFile));
  }
  return Status::OK();
}

// Returns the approximate offset of a key, which has no timestamp, in a table; 0 if the table
// cannot be opened.
uint64_t OffsetInFile(const PinnedVersion& pinned, FileMetaData* file, int level,
                      const Slice& key) {
  VARVE_ASSERT(level >= 0 && level < pinned.version->num_levels());
  const InternalKeyComparator& icmp = *pinned.version->icmp();
  // The index is not needed for a key outside of the table's range.
  if (icmp.CompareKey(key, icmp.KeyOf(file->smallest)) <= 0) return 0;
  if (icmp.CompareKey(key, icmp.KeyOf(file->largest)) > 0) return file->size;
  TableRef table;
  if (!pinned.family->table_cache()->Find(file, level, ReadOptions(), &table).ok()) return 0;
  return table->ApproximateOffsetOf(ReadOptions(), icmp.FirstInternalKey(key).Encode());
}

// Returns the approximate bytes of tables in the range. For tables that extend beyond it, offsets
// are looked up, unless their bytes are less than the share `margin` of those of the other tables:
// then half of them is counted.
uint64_t BytesInFiles(const PinnedVersion& pinned, const Range& range, double margin) {
  const InternalKeyComparator& icmp = *pinned.version->icmp();
  uint64_t whole = 0;
  uint64_t bytes_of_ends = 0;
  std::vector<std::pair<FileMetaData*, int>> ends;
  for (int level = 0; level < pinned.version->num_levels(); level++) {
    for (FileMetaData* file :
         pinned.version->level(level).Overlapping(&range.start, &range.limit)) {
      if (icmp.CompareKey(range.start, icmp.KeyOf(file->smallest)) <= 0 &&
          icmp.CompareKey(range.limit, icmp.KeyOf(file->largest)) > 0) {
        whole += file->size;
      } else {
        ends.emplace_back(file, level);
        bytes_of_ends += file->size;
      }
    }
  }
  // With half of these bytes the error is at most half of them.
  if (margin > 0 && static_cast<double>(bytes_of_ends) < static_cast<double>(whole) * margin) {
    return whole + bytes_of_ends / 2;
  }
  for (const auto& [file, level] : ends) {
    const uint64_t begin = OffsetInFile(pinned, file, level, range.start);
    const uint64_t end = OffsetInFile(pinned, file, level, range.limit);
    if (end > begin) whole += end - begin;
  }
  return whole;
}

}  // namespace

void ListLiveFiles(Engine* engine, std::vector<LiveFileMetaData>* files) {
  for (const PinnedVersion& pinned : PinAll(engine)) {
    for (int level = 0; level < pinned.version->num_levels(); level++) {
      for (const FileRef& file : pinned.version->level(level).files()) {
        LiveFileMetaData out;
        {
          DbLock lock(&engine->state.mu);
          FillFile(*file, &out);
        }
        FillCounts(pinned.family->table_cache(), file.get(), level, &out);
        out.column_family_name = pinned.family->name();
        out.level = level;
        files->push_back(std::move(out));
      }
    }
  }
}

namespace {

BlobMetaData Describe(const BlobFileState& file) {
  BlobMetaData out;
  out.blob_file_number = file.number();
  out.blob_file_name = "/" + BlobFileBaseName(file.number());
  out.blob_file_path = file.blobs->file()->paths->directory(0);
  out.blob_file_size = file.FileSize();
  out.total_blob_count = file.count();
  out.total_blob_bytes = file.bytes();
  out.garbage_blob_count = file.garbage_count;
  out.garbage_blob_bytes = file.garbage_bytes;
  out.checksum_method = file.blobs->facts().checksum.function;
  out.checksum_value = file.blobs->facts().checksum.value;
  return out;
}

void Describe(Engine* engine, const PinnedVersion& pinned, ColumnFamilyMetaData* metadata) {
  *metadata = ColumnFamilyMetaData();
  metadata->name = pinned.family->name();
  for (int level = 0; level < pinned.version->num_levels(); level++) {
    std::vector<SstFileMetaData> files;
    uint64_t bytes = 0;
    for (const FileRef& file : pinned.version->level(level).files()) {
      files.emplace_back();
      {
        DbLock lock(&engine->state.mu);
        FillFile(*file, &files.back());
      }
      FillCounts(pinned.family->table_cache(), file.get(), level, &files.back());
      bytes += file->size;
      metadata->file_count++;
    }
    metadata->size += bytes;
    metadata->levels.emplace_back(level, bytes, std::move(files));
  }
  VARVE_ASSERT(metadata->size == pinned.version->TotalBytes());
  for (const BlobFileState& file : pinned.version->blob_files()) {
    metadata->blob_files.push_back(Describe(file));
    metadata->blob_file_size += file.FileSize();
    metadata->blob_file_count++;
  }
}

}  // namespace

void DescribeFamily(Engine* engine, ColumnFamily* family, ColumnFamilyMetaData* metadata) {
  Describe(engine, Pin(engine, family), metadata);
}

void DescribeAllFamilies(Engine* engine, std::vector<ColumnFamilyMetaData>* metadata) {
  for (const PinnedVersion& pinned : PinAll(engine)) {
    Describe(engine, pinned, &metadata->emplace_back());
  }
}

Status ListFilesForCopy(Engine* engine, std::vector<std::string>* names, uint64_t* manifest_bytes) {
  names->clear();
  // Waits until the OPTIONS file of the current options is written, as the list must include it. An
  // error of writing it is reported to the caller that changed options.
  engine->jobs->options_keeper.Settle().PermitUncheckedError();
  DbLock lock(&engine->state.mu);
  // After a failed write of the MANIFEST its contents are unknown, so EndDoubt writes a new one.
  VARVE_RETURN_IF_ERROR(engine->state.versions->EndDoubt(engine->context.directory()));
  for (const auto& [id, family] : engine->state.families.all()) {
    const Version& version = *family->current();
    for (int level = 0; level < version.num_levels(); level++) {
      for (const FileRef& file : version.level(level).files()) {
        names->push_back("/" + TableFileBaseName(file->number));
      }
    }
    for (const BlobFileState& file : version.blob_files()) {
      names->push_back("/" + BlobFileBaseName(file.number()));
    }
  }
  VARVE_ASSERT(engine->state.versions->manifest_file_number() != 0);
  names->push_back("/CURRENT");
  names->push_back("/" + DescriptorFileBaseName(engine->state.versions->manifest_file_number()));
  if (const uint64_t number = engine->jobs->options_keeper.number(); number != 0) {
    names->push_back("/" + OptionsFileBaseName(number));
  }
  if (manifest_bytes != nullptr) *manifest_bytes = engine->state.versions->manifest_file_size();
  return Status::OK();
}

namespace {

// Keeps obsolete files from being deleted while it exists.
class KeepFiles {
 public:
  explicit KeepFiles(Engine* engine) : engine_(engine) {
    DbLock lock(&engine_->state.mu);
    engine_->deletions.Keep();
  }
  ~KeepFiles() {
    DbLock lock(&engine_->state.mu);
    engine_->deletions.EndKeep();
    if (!engine_->deletions.allowed() || engine_->context.read_only()) return;
    BestEffort([this] {
      engine_->state.mu.AssertHeld();
      engine_->jobs->obsolete.Purge();
    });
  }
  KeepFiles(const KeepFiles&) = delete;
  KeepFiles& operator=(const KeepFiles&) = delete;

 private:
  Engine* const engine_;
};

}  // namespace

Status ListLogs(Engine* engine, VectorLogPtr* files) {
  files->clear();
  // The logs are opened by name for their first sequence numbers, so none may be deleted or moved
  // meanwhile.
  const KeepFiles keep(engine);
  const std::vector<LogSet::LogInfo> logs = engine->state.logs->List();
  const uint64_t first_live = logs.empty() ? UINT64_MAX : logs.front().number;
  VARVE_RETURN_IF_ERROR(ListArchivedLogs(engine, first_live, files));
  for (const LogSet::LogInfo& log : logs) {
    VARVE_ASSERT(files->empty() || files->back()->LogNumber() < log.number);
    files->push_back(
        std::make_unique<ListedLog>(log.number, log.bytes, FirstSequence(engine, log.number)));
  }
  return Status::OK();
}

Status DescribeCurrentLog(Engine* engine, std::unique_ptr<LogFile>* file) {
  if (file == nullptr) return Status::InvalidArgument("GetCurrentWalFile: the place is null");
  file->reset();
  if (engine->context.read_only()) {
    return Status::NotSupported("GetCurrentWalFile: a database that is read only writes no log");
  }
  const KeepFiles keep(engine);
  const std::vector<LogSet::LogInfo> logs = engine->state.logs->List();
  if (logs.empty()) return Status::ShutdownInProgress("GetCurrentWalFile: the database is closed");
  const LogSet::LogInfo& log = logs.back();
  *file = std::make_unique<ListedLog>(log.number, log.bytes, FirstSequence(engine, log.number));
  return Status::OK();
}

Status OldestCreationTime(Engine* engine, uint64_t* seconds) {
  if (seconds == nullptr) {
    return Status::InvalidArgument("GetCreationTimeOfOldestFile: the place is null");
  }
  uint64_t oldest = UINT64_MAX;
  for (const PinnedVersion& pinned : PinAll(engine)) {
    for (int level = 0; level < pinned.version->num_levels(); level++) {
      for (const FileRef& file : pinned.version->level(level).files()) {
        uint64_t time = file->times.created;
        if (time == 0) {  // older MANIFESTs do not have it
          TableRef table;
          Status s = pinned.family->table_cache()->Find(file.get(), level, ReadOptions(), &table);
          if (!s.ok()) return s;
          time = table->properties()->file_creation_time;
        }
        oldest = std::min(oldest, time);
      }
    }
  }
  *seconds = oldest;
  return Status::OK();
}

Status ApproximateSizes(ColumnFamily* family, const SizeApproximationOptions& options,
                        const Range* ranges, int n, uint64_t* sizes) {
  if (!options.include_memtables && !options.include_files) {
    return Status::InvalidArgument("GetApproximateSizes: neither memtables nor files are included");
  }
  // Memtables and tables are of one super-version, so flushed data is neither omitted nor counted
  // twice.
  ReadGuard super_version(family);
  const PinnedVersion pinned{super_version->shared_version(), family->shared_from_this()};
  for (int i = 0; i < n; i++) {
    uint64_t total = options.include_files
                         ? BytesInFiles(pinned, ranges[i], options.files_size_error_margin)
                         : 0;
    if (options.include_memtables) {
      uint64_t entries = 0;
      uint64_t bytes = 0;
      super_version->mem()->ApproximateStats(ranges[i].start, ranges[i].limit, &entries, &bytes);
      total += bytes;
      for (const auto& mem : super_version->immutables()) {
        mem->ApproximateStats(ranges[i].start, ranges[i].limit, &entries, &bytes);
        total += bytes;
      }
    }
    sizes[i] = total;
  }
  return Status::OK();
}

Status TablePropertiesInRanges(Engine* engine, ColumnFamily* family, const Range* ranges, size_t n,
                               TablePropertiesCollection* properties) {
  const PinnedVersion pinned = Pin(engine, family);
  const auto add = [&](FileMetaData* file, int level) {
    TableRef table;
    Status s = family->table_cache()->Find(file, level, ReadOptions(), &table);
    if (s.ok()) (*properties)[file->FileName()] = table->properties();
    return s;
  };
  for (int level = 0; level < pinned.version->num_levels(); level++) {
    const LevelFiles& files = pinned.version->level(level);
    for (size_t i = 0; ranges == nullptr && i < files.size(); i++) {
      Status s = add(files[i], level);
      if (!s.ok()) return s;
    }
    for (size_t i = 0; i < n; i++) {
      for (FileMetaData* file : files.Overlapping(&ranges[i].start, &ranges[i].limit)) {
        Status s = add(file, level);
        if (!s.ok()) return s;
      }
    }
  }
  return Status::OK();
}

Status SumTableProperties(Engine* engine, ColumnFamily* family, int level, TableProperties* sum) {
  const PinnedVersion pinned = Pin(engine, family);
  VARVE_ASSERT(level < pinned.version->num_levels());
  for (int at = 0; at < pinned.version->num_levels(); at++) {
    if (level >= 0 && at != level) continue;
    for (const FileRef& file : pinned.version->level(at).files()) {
      TableRef table;
      Status s = family->table_cache()->Find(file.get(), at, ReadOptions(), &table);
      if (!s.ok()) return s;
      sum->Add(*table->properties());
    }
  }
  return Status::OK();
}

}  // namespace varve
