// SPDX-License-Identifier: Apache-2.0

// Creates, fills, syncs and describes table files; deletes them if anything fails.
//
// Order
// 1. Options are checked before the file exists, so that a refusal leaves nothing behind.
// 2. The file is complete and durable, and closed without error, before it is described to the
//    caller. Its name is made durable before the edit that adds it (version_set_write.cc).
// 3. If the options ask for it, the table is read back past the cache, and compared with a digest
//    of all that was added.
// 4. A table that takes the place of cached ones is read through the cache.
//
// Until Finish has returned OK, the destructor deletes the file.
//
// The bounds are those of points and tombstones. A tombstone's end is exclusive, so as an upper
// bound it gets a sentinel that sorts before all entries of that key. Without stored timestamps the
// bounds have made-up ones, such that they enclose all entries of their keys.

#include "db/compaction/table_output.h"

#include <utility>

#include "table/table_reader.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/status_macros.h"
#include "util/coding/hash.h"
#include "util/env/file_checksums.h"
#include "util/env/file_names.h"
#include "util/env/random_access_file_reader.h"
#include "util/metrics/statistics.h"
#include "util/sync/give_way.h"

namespace varve {

namespace {

// Bytes per read when a new table is read back.
constexpr size_t kReadBackBytes = 1 << 20;

void SetHistogramsFor(TableFileCreationReason reason, WritableFileWriter::Options* options) {
  options->write_histogram = SST_WRITE_MICROS;
  switch (reason) {
    case TableFileCreationReason::kFlush:
      options->write_histogram_of_purpose = FILE_WRITE_FLUSH_MICROS;
      options->sync_histogram = TABLE_SYNC_MICROS;
      break;
    case TableFileCreationReason::kCompaction:
      options->write_histogram_of_purpose = FILE_WRITE_COMPACTION_MICROS;
      options->sync_histogram = COMPACTION_OUTFILE_SYNC_MICROS;
      break;
    case TableFileCreationReason::kRecovery:
      options->write_histogram_of_purpose = FILE_WRITE_DB_OPEN_MICROS;
      options->sync_histogram = TABLE_SYNC_MICROS;
      break;
    case TableFileCreationReason::kMisc:
      break;
  }
}

}  // namespace

// The generator of the checksum comes first, as it must see every byte that the writer writes.
Status TableOutputContext::CreateFile(const std::string& path, WritableFileWriter::Options writer,
                                      const std::function<void(const std::string& path)>& created,
                                      std::unique_ptr<FileChecksumGenerator>* checksum,
                                      std::unique_ptr<WritableFileWriter>* file) const {
  FileOptions options = file_options;
  options.use_direct_writes = use_direct_io;
  options.use_mmap_writes = false;
  writer.max_buffer_size = file_buffer_bytes;
  writer.bytes_per_sync = bytes_per_sync;
  writer.io_options.rate_limiter_priority = io_priority;
  writer.rate_limiter = rate_limiter;
  writer.limit_lifted = limit_lifted;
  writer.clock = clock;
  VARVE_RETURN_IF_ERROR(NewFileChecksum(checksum_factory, path, "", checksum));
  writer.checksum = checksum->get();
  if (created) created(path);
  VARVE_RETURN_IF_ERROR(WritableFileWriter::Create(fs.get(), path, options, writer, file));
  (*file)->file()->SetIOPriority(io_priority);
  return Status::OK();
}

// If the table leaves out timestamps, it is in the order of the comparator beneath, which has none.
TableOutput::TableOutput(const TableOutputContext& context, const TableBuildOptions& build)
    : context_(context),
      build_(build),
      file_name_(context.paths->FileName(build.file_number, context.path_id)) {
  const Comparator* const user_order = ComparatorWithoutTimestamp(build.icmp->user_comparator());
  if (!build.persist_timestamps && user_order != nullptr) {
    order_without_timestamp_ = std::make_unique<InternalKeyComparator>(user_order);
  }
}

// If an error comes after the file was created, the destructor of `made` deletes it.
Status TableOutput::Create(const TableOutputContext& context, const TableBuildOptions& build,
                           std::unique_ptr<TableOutput>* output) {
  output->reset();
  // Checked before the file is created: a refused option leaves nothing behind.
  VARVE_RETURN_IF_ERROR(TableBuilder::CheckOptions(build));
  std::unique_ptr<TableOutput> made(new TableOutput(context, build));
  WritableFileWriter::Options writer;
  writer.stats = build.statistics;
  SetHistogramsFor(build.reason, &writer);
  if (context.time_files) writer.times = &made->times_;
  VARVE_RETURN_IF_ERROR(context.CreateFile(made->file_name_, writer, context.on_create,
                                           &made->checksum_, &made->file_));
  TableBuildOptions table = made->build_;
  if (made->order_without_timestamp_ != nullptr) {
    table.icmp = made->order_without_timestamp_.get();
    table.comparator_name = build.icmp->user_comparator()->Name();
  }
  VARVE_RETURN_IF_ERROR(TableBuilder::Create(table, made->file_.get(), &made->builder_));
  *output = std::move(made);
  return Status::OK();
}

TableOutput::~TableOutput() {
  if (finished_) return;
  if (builder_ != nullptr) builder_->Abandon();
  builder_.reset();
  if (file_ == nullptr) return;
  file_.reset();
  // No MANIFEST knows a leftover file: the next open sets it aside.
  context_.fs->DeleteFile(file_name_, IOOptions(), nullptr).PermitUncheckedError();
}

// Two forms of the key are made: without timestamp, as the table stores it, and with the oldest
// one, as readers will see it, from which bounds and digest are taken.
void TableOutput::AddWithoutTimestamp(const Slice& internal_key, const Slice& value) {
  const InternalKeyComparator& icmp = *build_.icmp;
  const uint64_t trailer = ExtractTrailer(internal_key);
  const Slice key = icmp.KeyOf(internal_key);
  const std::string shown = icmp.LastUserKey(key);
  last_point_.clear();
  AppendInternalKey(&last_point_, shown, UnpackSequence(trailer), UnpackType(trailer));
  if (first_point_.empty()) first_point_ = last_point_;
  NoteSequence(UnpackSequence(trailer));
  has_entry_ = true;
  key_without_timestamp_.clear();
  AppendInternalKey(&key_without_timestamp_, key, UnpackSequence(trailer), UnpackType(trailer));
  if (context_.read_back) added_.Add(last_point_, value);
  builder_->Add(key_without_timestamp_, value);
}

// The table gets the keys without timestamps if these are not persisted. The bounds in the file's
// description have timestamps in either case.
void TableOutput::AddTombstone(const Slice& begin, const Slice& end, SequenceNumber seq,
                               const Slice& timestamp) {
  VARVE_ASSERT(!finished_ && seq <= kMaxSequenceNumber);
  const InternalKeyComparator& icmp = *build_.icmp;
  const bool omits_timestamps = order_without_timestamp_ != nullptr;
  const Slice stored = omits_timestamps ? Slice() : timestamp;
  const InternalKey stored_begin(begin.ToString() + stored.ToString(), seq, kTypeRangeDeletion);
  builder_->AddTombstone(stored_begin.Encode(), end.ToString() + stored.ToString());
  InternalKey begin_key = omits_timestamps
                              ? InternalKey(icmp.LastUserKey(begin), seq, kTypeRangeDeletion)
                              : stored_begin;
  if (first_tombstone_.empty()) first_tombstone_ = std::move(begin_key);
  // The bound is exclusive: the sentinel sorts before every entry of the end key.
  if (last_tombstone_end_.empty() || icmp.CompareKey(icmp.KeyOf(last_tombstone_end_), end) < 0) {
    last_tombstone_end_.Set(icmp.FirstUserKey(end), kMaxSequenceNumber, kTypeRangeDeletion);
  }
  NoteSequence(seq);
  has_entry_ = true;
}

// Returns false if the keys of points are too short for internal keys.
bool TableOutput::SetBounds(NewFile* file) const {
  if (!first_point_.empty()) {
    if (!file->smallest.DecodeFrom(first_point_) || !file->largest.DecodeFrom(last_point_)) {
      return false;
    }
  }
  if (first_tombstone_.empty()) return !first_point_.empty();
  const InternalKeyComparator& icmp = *build_.icmp;
  if (first_point_.empty() ||
      icmp.Compare(first_tombstone_.Encode(), file->smallest.Encode()) < 0) {
    file->smallest = first_tombstone_;
  }
  if (first_point_.empty() ||
      icmp.Compare(last_tombstone_end_.Encode(), file->largest.Encode()) > 0) {
    file->largest = last_tombstone_end_;
  }
  return true;
}

Status TableOutput::CloseFile() {
  // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
  if (!VARVE_CANARY(kSkipTableSync)) VARVE_RETURN_IF_ERROR(file_->Sync(context_.use_fsync));
  const IOStatus closed = file_->Close();
  if (!VARVE_CANARY(kIgnoreCloseError)) VARVE_RETURN_IF_ERROR(closed);
  if (file_->file_size() != builder_->FileSize()) {
    return Status::Corruption(file_name_, "the table's size is not the file's");
  }
  return Status::OK();
}

void TableOutput::EntryDigest::Add(const Slice& internal_key, const Slice& value) {
  count++;
  hash = XXH3Hash64(internal_key.data(), internal_key.size(), hash);
  hash = XXH3Hash64(value.data(), value.size(), hash);
}

Status TableOutput::OpenAgain(const NewFile& file, bool cached,
                              std::unique_ptr<TableReader>* table) const {
  RandomAccessFileReader::Options reader_options;
  reader_options.stats = build_.statistics;
  reader_options.clock = context_.clock;
  std::unique_ptr<RandomAccessFileReader> handle;
  VARVE_RETURN_IF_ERROR(RandomAccessFileReader::Open(
      context_.fs.get(), file_name_, context_.file_options, reader_options, &handle));
  TableOpenOptions open;
  open.icmp = build_.icmp;
  open.factory = build_.factory;
  open.past_cache = !cached;
  open.statistics = build_.statistics;
  open.file_name = file_name_;
  open.expected_unique_id = file.unique_id;
  open.timestamps_persisted = file.timestamps_persisted;
  return TableReader::Open(open, std::move(handle), file.size, table);
}

// Reads the file past the cache and compares a digest of what it shows with that of what was added.
Status TableOutput::ReadBack(const NewFile& file) const {
  std::unique_ptr<TableReader> table;
  VARVE_RETURN_IF_ERROR(OpenAgain(file, /*cached=*/false, &table));
  ReadOptions options;
  options.fill_cache = false;
  options.readahead_size = kReadBackBytes;
  const auto iterator = table->NewIterator(options, TableIterOptions());
  EntryDigest found;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    found.Add(iterator->key(), iterator->value());
  }
  VARVE_RETURN_IF_ERROR(iterator->status());
  if (found == added_) return Status::OK();
  return Status::Corruption(file_name_, "of " + std::to_string(added_.count) + " entries added, " +
                                            std::to_string(found.count) +
                                            " were read back, or others");
}

// Reads the file as a reader of the database would, so that its blocks get the same keys in the
// cache. It is harmless if the cache has no room, or the file cannot be read now.
void TableOutput::FillCache(const NewFile& file) const {
  std::unique_ptr<TableReader> table;
  if (!OpenAgain(file, /*cached=*/true, &table).ok()) return;
  ReadOptions options;
  options.readahead_size = kReadBackBytes;
  const auto iterator = table->NewIterator(options, TableIterOptions());
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) GiveWay::Step();
  iterator->status().PermitUncheckedError();
}

// Follows the order that the head of this file explains. The description is made in `meta` and
// copied only at the end, so that a failure leaves *file alone.
Status TableOutput::Finish(NewFile* file) {
  NewFile meta;
  VARVE_ASSERT(!finished_);
  if (!has_entry_) return Status::InvalidArgument(file_name_, "a table without entries");
  VARVE_RETURN_IF_ERROR(builder_->Finish());
  VARVE_RETURN_IF_ERROR(CloseFile());
  if (!SetBounds(&meta)) return Status::Corruption(file_name_, "an entry's key is too short");
  const TableProperties& properties = builder_->properties();
  meta.level = file->level;
  meta.epoch_number = file->epoch_number;
  meta.number = build_.file_number;
  meta.path_id = context_.path_id;
  meta.temperature = context_.file_options.temperature;
  meta.size = builder_->FileSize();
  VARVE_ASSERT(smallest_seq_ <= largest_seq_);
  meta.smallest_seq = smallest_seq_;
  meta.largest_seq = largest_seq_;
  meta.marked_for_compaction = builder_->NeedsCompaction();
  meta.times.oldest_ancestor = build_.creation_time;
  meta.times.created = build_.file_creation_time;
  meta.tail_size = builder_->tail_size();
  meta.unique_id = builder_->UniqueId();
  meta.timestamps_persisted = properties.user_defined_timestamps_persisted != 0;
  meta.counts = CountsOf(properties);
  // With timestamps readers may ask for older versions, so a newer one does not hide them.
  if (build_.icmp->timestamp_size() == 0) meta.counts.hidden = hidden_;
  if (checksum_ != nullptr) {
    checksum_->Finalize();
    meta.checksum.value = checksum_->GetChecksum();
    meta.checksum.function = checksum_->Name();
  }
  if (context_.read_back) VARVE_RETURN_IF_ERROR(ReadBack(meta));
  if (TableBuilder::FillsCache(build_, meta.size)) FillCache(meta);
  *file = std::move(meta);
  finished_ = true;
  return Status::OK();
}

}  // namespace varve
