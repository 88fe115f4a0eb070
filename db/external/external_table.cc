// SPDX-License-Identifier: Apache-2.0

// Writes a program's entries into a table file, which in the end is durable or deleted.
//
//       Create    creates the file; an existing one with several names loses this one first
//       Add       passes points, in strictly ascending order, to the builder; keeps ranges
//       Finish    adds the sorted ranges, then filter, index, footer; syncs and closes
//       ~         deletes the file unless Finish succeeded
//
// Entries have the sequence number 0. Two properties of the table allow a database that ingests the
// file to assign one sequence number to all of them.

#include "db/external/external_table.h"

#include <algorithm>
#include <cstring>

#include "varve/comparator.h"

#include "table/format/unique_id.h"
#include "table/inspect/prepared_file_info.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/coding/fixed.h"
#include "util/env/file_checksums.h"
#include "util/key/entry_limits.h"

namespace varve {

namespace {

// Version of the properties of such files that allows ingestion to assign one sequence number.
constexpr int32_t kExternalVersion = 2;

// Removes the name `path` if the file has other names too, such as a table that a database has
// ingested by a link: so the file is not overwritten under them. Does nothing on file systems that
// do not count links.
Status LeaveOtherNames(FileSystem* fs, const std::string& path) {
  uint64_t names = 0;
  const IOStatus counted = fs->NumFileLinks(path, IOOptions(), &names, nullptr);
  if (!counted.ok() || names < 2) return Status::OK();
  return fs->DeleteFile(path, IOOptions(), nullptr);
}

}  // namespace

Status ExternalTable::Create(const ExternalTableRequest& request,
                             std::unique_ptr<ExternalTable>* table) {
  table->reset();
  // The options are checked before the file is made, so that a refusal leaves nothing behind.
  VARVE_RETURN_IF_ERROR(TableBuilder::CheckOptions(request.build));
  std::unique_ptr<ExternalTable> made(new ExternalTable(request));
  VARVE_RETURN_IF_ERROR(
      NewFileChecksum(request.checksum_factory, request.path, "", &made->checksum_));
  WritableFileWriter::Options writer_options = request.writer_options;
  writer_options.checksum = made->checksum_.get();
  VARVE_RETURN_IF_ERROR(LeaveOtherNames(request.fs.get(), request.path));
  VARVE_RETURN_IF_ERROR(WritableFileWriter::Create(
      request.fs.get(), request.path, request.file_options, writer_options, &made->file_));
  made->file_->file()->SetIOPriority(writer_options.io_options.rate_limiter_priority);

  TableBuildOptions build = made->request_.build;
  PutFixed32(&build.added_properties[kExternalVersionProperty], kExternalVersion);
  // The number 0 means that none is assigned yet.
  PutFixed64(&build.added_properties[kExternalSequenceProperty], 0);
  VARVE_RETURN_IF_ERROR(TableBuilder::Create(build, made->file_.get(), &made->builder_));
  *table = std::move(made);
  return Status::OK();
}

ExternalTable::~ExternalTable() {
  if (finished_) return;
  // The builder refers to the file, so it goes first.
  if (builder_ != nullptr) builder_->Abandon();
  builder_.reset();
  if (file_ == nullptr) return;
  file_.reset();
  // Without a footer the file is not a table.
  request_.fs->DeleteFile(request_.path, IOOptions(), nullptr).PermitUncheckedError();
}

Status ExternalTable::CheckTimestamp(const Slice& timestamp) const {
  const size_t expected = request_.icmp->timestamp_size();
  if (timestamp.size() != expected) {
    return Status::InvalidArgument(request_.path,
                                   "a timestamp of " + std::to_string(timestamp.size()) +
                                       " bytes, the comparator's have " + std::to_string(expected));
  }
  const Comparator* const order = request_.icmp->user_comparator();
  if (!request_.build.persist_timestamps && expected != 0 &&
      order->CompareTimestamp(timestamp, order->GetMinTimestamp()) != 0) {
    return Status::InvalidArgument(request_.path,
                                   "persist_user_defined_timestamps is false: only the smallest "
                                   "timestamp can be left out");
  }
  return Status::OK();
}

Status ExternalTable::Add(ValueType type, const Slice& user_key, const Slice& timestamp,
                          const Slice& value) {
  if (request_.icmp->timestamp_size() == 0 && timestamp.empty()) [[likely]] {
    return AddWholeKey(type, user_key, value);
  }
  VARVE_RETURN_IF_ERROR(CheckTimestamp(timestamp));
  whole_key_.assign(user_key.data(), user_key.size());
  whole_key_.append(timestamp.data(), timestamp.size());
  return AddWholeKey(type, whole_key_, value);
}

Status ExternalTable::AddWholeKey(ValueType type, const Slice& user_key, const Slice& value) {
  if (!FitsAWrite(user_key.size(), value.size())) [[unlikely]] {
    return Status::InvalidArgument(
        request_.path, "a key of " + std::to_string(user_key.size()) + " bytes and a value of " +
                           std::to_string(value.size()) + " are too large for a table");
  }
  if (!failed_.ok()) [[unlikely]]
    return failed_;
  // Keys must be strictly ascending: two entries of one key would have the same sequence number, so
  // neither would be newer.
  if (points_ > 0) [[likely]] {
    const Slice last = ExtractUserKey(last_key_);
    const int order =
        bytewise_ ? CompareBytes(last, user_key) : request_.icmp->CompareUserKey(last, user_key);
    if (order >= 0) [[unlikely]]
      return RefuseOrder(user_key);
  } else {
    first_key_.assign(user_key.data(), user_key.size());
    first_type_ = type;
  }
  // Every entry has sequence number 0 until a database takes the file.
  last_key_.resize(user_key.size() + kInternalKeyTrailerBytes);
  // The data pointer of an empty key may be null, which memcpy does not allow.
  if (!user_key.empty()) [[likely]]
    std::memcpy(last_key_.data(), user_key.data(), user_key.size());
  EncodeFixed64(last_key_.data() + user_key.size(), PackSequenceAndType(0, type));
  // The entry is counted even if the builder then fails, as the whole file fails with it.
  points_++;
  if (request_.build.persist_timestamps) [[likely]] {
    builder_->Add(last_key_, value);
  } else {
    stored_key_.clear();
    AppendInternalKey(&stored_key_, request_.icmp->WithoutTimestamp(user_key), 0, type);
    builder_->Add(stored_key_, value);
  }
  return builder_->status();
}

Status ExternalTable::RefuseOrder(const Slice& user_key) const {
  const bool show = request_.build.allow_data_in_errors;
  return Status::InvalidArgument(
      request_.path,
      "keys come in strictly ascending order, and this one does not sort after the "
      "one before it: point " +
          std::to_string(points_ + 1) + (show ? ", key " + user_key.ToString(/*hex=*/true) : ""));
}

Status ExternalTable::Fail(const Status& status) {
  VARVE_ASSERT(!status.ok());
  // The first error is kept. A builder that was interrupted by an exception must be abandoned.
  failed_.UpdateIfOk(status);
  builder_->Abandon();
  return failed_;
}

Status ExternalTable::AddTombstone(const Slice& begin, const Slice& end, const Slice& timestamp) {
  VARVE_RETURN_IF_ERROR(CheckTimestamp(timestamp));
  if (!FitsAWrite(begin.size() + timestamp.size(), end.size() + timestamp.size())) {
    return Status::InvalidArgument(request_.path, "keys of a range are too large for a table");
  }
  const int order = request_.icmp->CompareKey(begin, end);
  if (order > 0) return Status::InvalidArgument(request_.path, "a range ends before it begins");
  // An empty range deletes nothing.
  if (order == 0) return Status::OK();
  VARVE_RETURN_IF_ERROR(status());

  // The table stores keys with or without timestamps; ExternalSstFileInfo reports them with
  // timestamps.
  const Slice stored = Stored(timestamp);
  Tombstone& added = tombstones_.emplace_back();
  AppendInternalKey(&added.begin, begin.ToString() + stored.ToString(), 0, kTypeRangeDeletion);
  added.end = end.ToString() + stored.ToString();
  std::string whole_begin = begin.ToString() + timestamp.ToString();
  std::string whole_end = end.ToString() + timestamp.ToString();
  const bool first = tombstones_.size() == 1;
  if (first || request_.icmp->CompareUserKey(whole_begin, smallest_begin_) < 0) {
    smallest_begin_ = std::move(whole_begin);
  }
  if (first || request_.icmp->CompareUserKey(whole_end, largest_end_) > 0) {
    largest_end_ = std::move(whole_end);
  }
  return Status::OK();
}

Status ExternalTable::AddTombstones() {
  // The program may add ranges in any order, and beside points, but a table has them sorted.
  // Sorting is stable, so equal beginnings stay in the program's order.
  const InternalKeyComparator& icmp = *request_.build.icmp;
  std::stable_sort(
      tombstones_.begin(), tombstones_.end(),
      [&](const Tombstone& a, const Tombstone& b) { return icmp.Compare(a.begin, b.begin) < 0; });
  for (const Tombstone& tombstone : tombstones_) {
    builder_->AddTombstone(tombstone.begin, tombstone.end);
  }
  return builder_->status();
}

Status ExternalTable::CloseFile() {
  VARVE_RETURN_IF_ERROR(file_->Sync(request_.use_fsync));
  // Only the data blocks leave the cache: an ingestion or a reader opens the table by its tail.
  if (request_.leaves_page_cache) {
    const uint64_t data_bytes = builder_->FileSize() - builder_->tail_size();
    // This is only a hint, and zero bytes would mean the whole file.
    if (data_bytes > 0) {
      file_->file()->InvalidateCache(0, static_cast<size_t>(data_bytes)).PermitUncheckedError();
    }
  }
  VARVE_RETURN_IF_ERROR(file_->Close());
  // A table can only be opened if its footer is at the end of the file, so the size is checked.
  if (file_->file_size() != builder_->FileSize()) {
    return Status::Corruption(request_.path, "the table's size is not the file's");
  }
  return Status::OK();
}

void ExternalTable::Describe(ExternalSstFileInfo* info) const {
  *info = ExternalSstFileInfo();
  info->file_path = request_.path;
  if (points_ > 0) {
    info->smallest_key = first_key_;
    info->largest_key = ExtractUserKey(last_key_).ToString();
  }
  info->smallest_range_del_key = smallest_begin_;
  info->largest_range_del_key = largest_end_;
  if (checksum_ != nullptr) {
    info->file_checksum = checksum_->GetChecksum();
    info->file_checksum_func_name = checksum_->Name();
  }
  info->file_size = builder_->FileSize();
  info->num_entries = points_;
  info->num_range_del_entries = tombstones_.size();
  info->version = kExternalVersion;
  // With PreparedFileInfo an ingestion need not read the table for the bounds of its points. With
  // timestamps there is none, and an ingestion reads the table.
  if (request_.icmp->timestamp_size() == 0) info->prepared_file_info = Prepare();
}

std::shared_ptr<const PreparedFileInfo> ExternalTable::Prepare() const {
  auto prepared = std::make_shared<PreparedFileInfo>();
  prepared->file_size = builder_->FileSize();
  const TableBuildOptions& build = request_.build;
  prepared->unique_id = TableUniqueId(build.db_id, build.db_session_id, build.file_number);
  if (points_ > 0) {
    AppendInternalKey(&prepared->smallest, first_key_, 0, first_type_);
    prepared->largest = last_key_;
  }
  return prepared;
}

Status ExternalTable::Finish(ExternalSstFileInfo* info) {
  VARVE_ASSERT(!finished_);
  VARVE_RETURN_IF_ERROR(status());
  VARVE_RETURN_IF_ERROR(AddTombstones());
  VARVE_RETURN_IF_ERROR(builder_->Finish());
  VARVE_RETURN_IF_ERROR(CloseFile());
  if (checksum_ != nullptr) checksum_->Finalize();
  if (info != nullptr) Describe(info);
  // From here on the destructor does not delete the file.
  finished_ = true;
  return Status::OK();
}

}  // namespace varve
