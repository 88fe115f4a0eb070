// SPDX-License-Identifier: Apache-2.0

// A record is a list of fields, each with a tag. A reader that does not know a tag must decide
// whether it may go on without the field:
//
//     tag with kTagIgnorableBit         has a length, and is skipped
//     other unknown tag                 the record is refused
//     unknown custom field of a file    skipped, unless it has kCustomMustUnderstandBit
//
// So a later version of the library can add facts that an older one may lose without harm, and keep
// an older one from losing the others.
//
// Fields that this version does not know are not kept, so a fresh MANIFEST has none of them.

#include "db/version/version_edit.h"

#include <algorithm>

#include "db/version/edit_tags.h"
#include "util/base/assert.h"
#include "util/coding/reader.h"
#include "util/coding/varint.h"

namespace varve {

namespace {

// Limit for any tree; the version set knows a family's own limit.
constexpr uint32_t kMaxLevels = 256;
// Largest path id that the format allows: families have up to four paths (kTablePathsMax).
constexpr uint32_t kPathIdMax = 3;

void PutKey(std::string* dst, const InternalKey& key) {
  PutLengthPrefixedSlice(dst, key.Encode());
}

// Puts the key without the last `bytes` bytes of its user key.
void PutShortenedKey(std::string* dst, const InternalKey& key, size_t bytes) {
  if (bytes == 0) return PutKey(dst, key);
  const Slice user_key = key.user_key();
  VARVE_ASSERT(user_key.size() >= bytes);
  PutKey(dst,
         InternalKey(Slice(user_key.data(), user_key.size() - bytes), key.sequence(), key.type()));
}

void PutCustom(std::string* dst, uint32_t tag, const Slice& bytes) {
  PutVarint32(dst, tag);
  PutLengthPrefixedSlice(dst, bytes);
}

void PutCustomNumber(std::string* dst, uint32_t tag, uint64_t value) {
  char bytes[kMaxVarint64Length];
  const char* const end = EncodeVarint64(bytes, value);
  PutCustom(dst, tag, Slice(bytes, static_cast<size_t>(end - bytes)));
}

void PutCounts(std::string* dst, const TableCounts& counts) {
  std::string bytes;
  for (const uint64_t number : {counts.entries, counts.deletions, counts.range_deletions,
                                counts.raw_key_bytes, counts.raw_value_bytes, counts.hidden}) {
    PutVarint64(&bytes, number);
  }
  bytes.push_back(counts.settled ? '\1' : '\0');
  PutCustom(dst, kTableCounts, bytes);
}

void PutShares(std::string* dst, const std::vector<BlobShare>& shares) {
  std::string bytes;
  PutVarint64(&bytes, shares.size());
  for (const BlobShare& share : shares) {
    for (const uint64_t number : {share.file, share.count, share.bytes}) {
      PutVarint64(&bytes, number);
    }
  }
  PutCustom(dst, kBlobShares, bytes);
}

// Writes only fields whose values differ from what a reader assumes without them, except for the
// two times, which RocksDB always writes.
void EncodeCustomFields(const NewFile& file, std::string* dst) {
  if (file.marked_for_compaction) PutCustom(dst, kNeedsCompaction, Slice("\x01", 1));
  PutCustomNumber(dst, kOldestAncestorTime, file.times.oldest_ancestor);
  PutCustomNumber(dst, kFileCreationTime, file.times.created);
  if (!file.checksum.function.empty()) {
    PutCustom(dst, kFileChecksum, file.checksum.value);
    PutCustom(dst, kFileChecksumName, file.checksum.function);
  }
  if (file.temperature != Temperature::kUnknown) {
    const char value = static_cast<char>(file.temperature);
    PutCustom(dst, kTemperature, Slice(&value, 1));
  }
  if (file.oldest_blob_file_number != 0) {
    PutCustomNumber(dst, kOldestBlobFile, file.oldest_blob_file_number);
  }
  if (!file.unique_id.empty()) PutCustom(dst, kUniqueId, file.unique_id);
  if (file.epoch_number != kUnknownEpochNumber) {
    PutCustomNumber(dst, kEpochNumber, file.epoch_number);
  }
  if (file.tail_size != 0) PutCustomNumber(dst, kTailSize, file.tail_size);
  if (!file.timestamps_persisted) PutCustom(dst, kTimestampsPersisted, Slice("\0", 1));
  if (file.path_id != 0) {
    const char value = static_cast<char>(file.path_id);
    PutCustom(dst, kPathId, Slice(&value, 1));
  }
  if (file.counts.known()) PutCounts(dst, file.counts);
  if (!file.blob_shares.empty()) PutShares(dst, file.blob_shares);
  if (file.times.newest != 0) PutCustomNumber(dst, kNewestTime, file.times.newest);
  PutVarint32(dst, kCustomEnd);
}

// Returns false if the file has no bounds, or a level or path that the format cannot hold.
bool EncodeFile(const NewFile& file, size_t timestamp_size, std::string* dst) {
  if (file.smallest.empty() || file.largest.empty() || file.level < 0 ||
      file.path_id > kPathIdMax) {
    return false;
  }
  // Bounds of a table without timestamps are stored without them, as RocksDB does.
  const size_t left_out = file.timestamps_persisted ? 0 : timestamp_size;
  if (std::min(file.smallest.user_key().size(), file.largest.user_key().size()) < left_out) {
    return false;
  }
  PutVarint32(dst, kTagNewFile4);
  PutVarint32(dst, static_cast<uint32_t>(file.level));
  PutVarint64(dst, file.number);
  PutVarint64(dst, file.size);
  PutShortenedKey(dst, file.smallest, left_out);
  PutShortenedKey(dst, file.largest, left_out);
  PutVarint64(dst, file.smallest_seq);
  PutVarint64(dst, file.largest_seq);
  EncodeCustomFields(file, dst);
  return true;
}

void PutTagged(std::string* dst, uint32_t tag, const std::optional<uint64_t>& value) {
  if (!value.has_value()) return;
  PutVarint32(dst, tag);
  PutVarint64(dst, *value);
}

void PutTagged(std::string* dst, uint32_t tag, const std::optional<std::string>& value) {
  if (!value.has_value()) return;
  PutVarint32(dst, tag);
  PutLengthPrefixedSlice(dst, *value);
}

// Puts numbers without a count: the field's length determines how many there are.
void PutNumbers(std::string* dst, uint32_t tag, const std::vector<uint64_t>& numbers) {
  if (numbers.empty()) return;
  std::string bytes;
  for (uint64_t number : numbers) PutVarint64(&bytes, number);
  PutCustom(dst, tag, bytes);
}

void EncodeBlobFile(const BlobFileFacts& file, std::string* dst) {
  PutVarint32(dst, kTagBlobFileAddition);
  for (const uint64_t number : {file.number, file.count, file.bytes}) PutVarint64(dst, number);
  PutLengthPrefixedSlice(dst, file.checksum.function);
  PutLengthPrefixedSlice(dst, file.checksum.value);
  if (file.referred_once) PutCustom(dst, kBlobReferredOnce, Slice());
  PutVarint32(dst, kBlobCustomEnd);
}

// RocksDB's records of garbage may have custom fields before kBlobCustomEnd; these have none.
void EncodeGarbage(const BlobGarbage& garbage, std::string* dst) {
  PutVarint32(dst, kTagBlobFileGarbage);
  for (const uint64_t number : {garbage.number, garbage.count, garbage.bytes}) {
    PutVarint64(dst, number);
  }
  PutVarint32(dst, kBlobCustomEnd);
}

// Decodes a record in one pass. Every method that fails stores a reason in error_.
class EditDecoder {
 public:
  EditDecoder(const Slice& record, VersionEdit* edit) : in_(record), edit_(edit) {}

  Status Run() {
    while (in_.remaining() > 0) {
      field_offset_ = in_.offset();
      const uint32_t tag = in_.Varint32();
      if (!in_.ok()) return Bad("tag");
      const char* const broken = Field(tag);
      if (broken != nullptr) return Bad(broken);
      if (!in_.ok()) return Bad("field of tag " + std::to_string(tag));
    }
    return Status::OK();
  }

 private:
  // These return null, or a description of the error. Input that is too short shows in in_.ok().
  const char* Field(uint32_t tag);
  const char* FileField(uint32_t tag);
  const char* FamilyField(uint32_t tag);
  const char* OtherField(uint32_t tag);
  const char* NumbersField(uint32_t tag);
  const char* File(uint32_t tag);
  const char* CustomFields(NewFile* file);
  const char* CustomField(uint32_t tag, const Slice& value, NewFile* file);
  const char* ByteField(uint32_t tag, const Slice& value, NewFile* file);
  static const char* CountsField(const Slice& value, TableCounts* counts);
  static const char* SharesField(const Slice& value, std::vector<BlobShare>* shares);
  const char* BlobFile();
  const char* Garbage();
  const char* BlobCustomFields(bool* referred_once);

  // Take a field. Return false if it is malformed, and true also if the input is too short.
  bool Level(int* level) {
    const uint32_t value = in_.Varint32();
    *level = static_cast<int>(value);
    return value < kMaxLevels;
  }

  bool Key(InternalKey* key) {
    const Slice bytes = in_.LengthPrefixed();
    return !in_.ok() || key->DecodeFrom(bytes);
  }

  Status Bad(const std::string& what) const {
    return Status::Corruption("version edit", what + " at byte " + std::to_string(field_offset_) +
                                                  " of the record cannot be decoded");
  }

  BoundedReader in_;
  VersionEdit* const edit_;
  size_t field_offset_ = 0;
};

// Decodes the field of a tag. Here and in the functions below the result is null, or names the
// field that is malformed; a field that is cut off shows in in_.ok(), which the caller checks.
const char* EditDecoder::Field(uint32_t tag) {
  switch (tag) {
    case kTagComparator:
      edit_->family.comparator = in_.LengthPrefixed().ToString();
      return nullptr;
    case kTagLogNumber:
      edit_->log_number = in_.Varint64();
      return nullptr;
    case kTagNextFileNumber:
      edit_->numbers.next_file = in_.Varint64();
      return nullptr;
    case kTagLastSequence:
      edit_->numbers.last_sequence = in_.Varint64();
      return *edit_->numbers.last_sequence <= kMaxSequenceNumber ? nullptr
                                                                 : "last sequence out of range";
    case kTagPrevLogNumber:
      edit_->numbers.prev_log = in_.Varint64();
      return nullptr;
    case kTagMinLogNumberToKeep:
      edit_->numbers.min_log_to_keep = in_.Varint64();
      return nullptr;
    case kTagInAtomicGroup:
      edit_->atomic_group_remaining = in_.Varint32();
      return nullptr;
    case kTagDbId:
      edit_->db_id = in_.LengthPrefixed().ToString();
      return nullptr;
    case kTagCompactCursor:
    case kTagDeletedFile:
    case kTagNewFile:
    case kTagNewFile2:
    case kTagNewFile3:
    case kTagNewFile4:
      return FileField(tag);
    case kTagColumnFamily:
    case kTagColumnFamilyAdd:
    case kTagColumnFamilyDrop:
    case kTagMaxColumnFamily:
    case kTagFullHistoryTsLow:
    case kTagPersistTimestamps:
    case kTagMergeOperator:
      return FamilyField(tag);
    case kTagGoneTables:
    case kTagUnreadLogs:
    case kTagTtlClock:
      return NumbersField(tag);
    case kTagChangePosition: {
      const bool whole = edit_->change_positions.emplace_back().DecodeFrom(in_.LengthPrefixed());
      return whole ? nullptr : "change position";
    }
    default:
      return OtherField(tag);
  }
}

const char* EditDecoder::FileField(uint32_t tag) {
  int level = 0;
  switch (tag) {
    case kTagCompactCursor: {
      InternalKey key;
      if (!Level(&level)) return "compaction cursor (level)";
      if (!Key(&key)) return "compaction cursor (key)";
      if (in_.ok()) edit_->compact_cursors.emplace_back(level, std::move(key));
      return nullptr;
    }
    case kTagDeletedFile: {
      if (!Level(&level)) return "deleted file (level)";
      const uint64_t number = in_.Varint64();
      if (in_.ok()) edit_->deleted_files.emplace_back(level, number);
      return nullptr;
    }
    default:  // kTagNewFile and its later forms
      return File(tag);
  }
}

const char* EditDecoder::FamilyField(uint32_t tag) {
  switch (tag) {
    case kTagColumnFamily:
      edit_->column_family = in_.Varint32();
      return nullptr;
    case kTagColumnFamilyAdd:
      edit_->family.added = in_.LengthPrefixed().ToString();
      return nullptr;
    case kTagColumnFamilyDrop:
      edit_->family.dropped = true;
      return nullptr;
    case kTagMaxColumnFamily:
      edit_->numbers.max_column_family = in_.Varint32();
      return nullptr;
    case kTagMergeOperator:
      edit_->family.merge_operator = in_.LengthPrefixed().ToString();
      return nullptr;
    case kTagPersistTimestamps: {
      const Slice persist = in_.LengthPrefixed();
      if (in_.ok() && persist.size() != 1) return "persist of timestamps (not one byte)";
      edit_->family.persist_timestamps = persist == Slice("\1", 1);
      return nullptr;
    }
    default: {  // kTagFullHistoryTsLow
      const Slice low = in_.LengthPrefixed();
      if (in_.ok() && low.empty()) return "full-history timestamp (empty)";
      edit_->family.full_history_ts_low = low.ToString();
      return nullptr;
    }
  }
}

// Reads lists that PutNumbers wrote. A log range takes two numbers; of several times the last one
// counts.
const char* EditDecoder::NumbersField(uint32_t tag) {
  BoundedReader numbers(in_.LengthPrefixed());
  while (numbers.ok() && numbers.remaining() > 0) {
    const uint64_t number = numbers.Varint64();
    if (tag == kTagGoneTables) {
      edit_->gone_tables.push_back(number);
    } else if (tag == kTagTtlClock) {
      edit_->ttl_clock = number;
    } else {  // kTagUnreadLogs
      edit_->unread_logs.emplace_back(number, numbers.Varint64());
    }
  }
  return numbers.ok() ? nullptr : "numbers of files";
}

// Decodes blob files, obsolete tags, and tags that this version does not know (see the head of this
// file).
const char* EditDecoder::OtherField(uint32_t tag) {
  switch (tag) {
    case kTagBlobFileAddition:
    case kTagBlobFileAdditionOld:
      return BlobFile();
    case kTagBlobFileGarbage:
    case kTagBlobFileGarbageOld:
      return Garbage();
    case kTagWalAdditionOld:
      in_.Varint64();  // the log's number
      for (uint32_t part = in_.Varint32(); in_.ok() && part != kWalAdditionEnd;
           part = in_.Varint32()) {
        if (part != kWalAdditionSyncedSize) return "log addition";
        in_.Varint64();
      }
      return nullptr;
    case kTagWalDeletionOld:
      in_.Varint64();
      return nullptr;
    default:
      if ((tag & kTagIgnorableBit) == 0) return "unknown tag";
      in_.LengthPrefixed();
      return nullptr;
  }
}

const char* EditDecoder::BlobCustomFields(bool* referred_once) {
  for (uint32_t tag = in_.Varint32(); in_.ok() && tag != kBlobCustomEnd; tag = in_.Varint32()) {
    if ((tag & kCustomMustUnderstandBit) != 0) return "unknown field of a blob file";
    in_.LengthPrefixed();
    if (tag == kBlobReferredOnce && in_.ok()) *referred_once = true;
  }
  return nullptr;
}

const char* EditDecoder::BlobFile() {
  BlobFileFacts file;
  file.number = in_.Varint64();
  file.count = in_.Varint64();
  file.bytes = in_.Varint64();
  file.checksum.function = in_.LengthPrefixed().ToString();
  file.checksum.value = in_.LengthPrefixed().ToString();
  const char* const broken = BlobCustomFields(&file.referred_once);
  if (broken != nullptr || !in_.ok()) return broken;
  // Sums over files must not overflow.
  if (file.bytes > UINT64_MAX / 2) return "blob file (bytes out of range)";
  if (file.checksum.function.empty() != file.checksum.value.empty()) {
    return "blob file (a checksum without its method, or the reverse)";
  }
  edit_->new_blob_files.push_back(std::move(file));
  return nullptr;
}

const char* EditDecoder::Garbage() {
  BlobGarbage garbage;
  garbage.number = in_.Varint64();
  garbage.count = in_.Varint64();
  garbage.bytes = in_.Varint64();
  bool ignored = false;
  const char* const broken = BlobCustomFields(&ignored);
  if (broken == nullptr && in_.ok()) edit_->blob_garbage.push_back(garbage);
  return broken;
}

// Reads one of the four forms of a new table, which differ in what they have:
//
//     tag 7      level, number, size, bounds                     LevelDB's
//     tag 100    ... and sequence numbers
//     tag 102    ... and a path id after the number
//     tag 103    as 100, and custom fields, of which the path id is one
const char* EditDecoder::File(uint32_t tag) {
  NewFile file;
  if (!Level(&file.level)) return "new file (level)";
  file.number = in_.Varint64();
  if (tag == kTagNewFile3) file.path_id = in_.Varint32();
  file.size = in_.Varint64();
  if (!Key(&file.smallest)) return "new file (smallest key)";
  if (!Key(&file.largest)) return "new file (largest key)";
  // LevelDB stores no sequence numbers of files; they are unknown until the table is opened.
  if (tag == kTagNewFile) {
    file.seqs_known = false;
  } else {
    file.smallest_seq = in_.Varint64();
    file.largest_seq = in_.Varint64();
    if (file.smallest_seq > kMaxSequenceNumber || file.largest_seq > kMaxSequenceNumber) {
      return "new file (sequence out of range)";
    }
  }
  const char* const broken = tag == kTagNewFile4 ? CustomFields(&file) : nullptr;
  if (broken == nullptr && in_.ok()) edit_->new_files.push_back(std::move(file));
  return broken;
}

const char* EditDecoder::CustomFields(NewFile* file) {
  for (uint32_t tag = in_.Varint32(); in_.ok() && tag != kCustomEnd; tag = in_.Varint32()) {
    const Slice value = in_.LengthPrefixed();
    if (!in_.ok()) break;
    const char* const broken = CustomField(tag, value, file);
    if (broken != nullptr) return broken;
  }
  // The two fields may come in any order.
  if (!file->blob_shares.empty() && file->blob_shares[0].file != file->oldest_blob_file_number) {
    return "new file (references to blob files and the oldest one)";
  }
  return nullptr;
}

const char* EditDecoder::CustomField(uint32_t tag, const Slice& value, NewFile* file) {
  BoundedReader field(value);
  switch (tag) {
    case kMinLogNumberToKeepFixed:
      // A number of the whole database, which old versions of RocksDB put beside a file.
      edit_->numbers.min_log_to_keep = field.Fixed64();
      return field.ok() ? nullptr : "new file (minimum log number)";
    case kOldestBlobFile:
      file->oldest_blob_file_number = field.Varint64();
      return field.ok() ? nullptr : "new file (oldest blob file)";
    case kOldestAncestorTime:
      file->times.oldest_ancestor = field.Varint64();
      return field.ok() ? nullptr : "new file (oldest ancestor time)";
    case kFileCreationTime:
      file->times.created = field.Varint64();
      return field.ok() ? nullptr : "new file (creation time)";
    case kEpochNumber:
      file->epoch_number = field.Varint64();
      // The following epochs are counted up from the largest.
      return field.ok() && file->epoch_number <= UINT64_MAX / 2 ? nullptr
                                                                : "new file (epoch number)";
    case kTailSize:
      file->tail_size = field.Varint64();
      return field.ok() ? nullptr : "new file (tail size)";
    case kFileChecksum:
      file->checksum.value = value.ToString();
      return nullptr;
    case kFileChecksumName:
      file->checksum.function = value.ToString();
      return nullptr;
    case kUniqueId:
      if (value.size() != kUniqueIdBytes) return "new file (unique id)";
      file->unique_id = value == Slice(kNullUniqueId, kUniqueIdBytes) ? "" : value.ToString();
      return nullptr;
    case kNeedsCompaction:
    case kTemperature:
    case kTimestampsPersisted:
    case kPathId:
      return ByteField(tag, value, file);
    case kTableCounts:
      return CountsField(value, &file->counts);
    case kBlobShares:
      return SharesField(value, &file->blob_shares);
    case kNewestTime:
      file->times.newest = field.Varint64();
      return field.ok() ? nullptr : "new file (newest time)";
    default:
      return (tag & kCustomMustUnderstandBit) != 0 ? "new file (unknown field)" : nullptr;
  }
}

// Ignores what later versions may append.
const char* EditDecoder::CountsField(const Slice& value, TableCounts* counts) {
  BoundedReader field(value);
  counts->entries = field.Varint64();
  counts->deletions = field.Varint64();
  counts->range_deletions = field.Varint64();
  counts->raw_key_bytes = field.Varint64();
  counts->raw_value_bytes = field.Varint64();
  counts->hidden = field.Varint64();
  const Slice settled = field.Bytes(1);
  if (!field.ok()) return "new file (counts)";
  counts->settled = settled[0] == '\1';
  return nullptr;
}

// Files must ascend and have references, as everybody who searches the shares relies on it.
const char* EditDecoder::SharesField(const Slice& value, std::vector<BlobShare>* shares) {
  BoundedReader field(value);
  uint64_t last = 0;
  shares->clear();
  for (uint64_t left = field.Varint64(); field.ok() && left > 0; left--) {
    BlobShare share;
    share.file = field.Varint64();
    share.count = field.Varint64();
    share.bytes = field.Varint64();
    if (!field.ok() || share.file <= last || share.count == 0) {
      return "new file (references to blob files)";
    }
    last = share.file;
    shares->push_back(share);
  }
  return field.AtEnd() ? nullptr : "new file (references to blob files)";
}

const char* EditDecoder::ByteField(uint32_t tag, const Slice& value, NewFile* file) {
  if (value.size() != 1) return "new file (one-byte field)";
  const auto byte = static_cast<uint8_t>(value[0]);
  if (tag == kNeedsCompaction) {
    file->marked_for_compaction = byte == 1;
  } else if (tag == kTemperature) {
    file->temperature = static_cast<Temperature>(byte);
  } else if (tag == kTimestampsPersisted) {
    file->timestamps_persisted = byte == 1;
  } else {
    // kPathId
    if (byte > kPathIdMax) return "new file (path id)";
    file->path_id = byte;
  }
  return nullptr;
}

void AppendKeyText(const InternalKey& key, bool hex, std::string* out) {
  if (key.empty()) {
    out->append("(none)");
    return;
  }
  out->append(key.user_key().ToString(hex)).append("@").append(std::to_string(key.sequence()));
  out->append(":").append(std::to_string(key.type()));
}

template <typename T>
void AppendNumberText(const char* name, const std::optional<T>& value, std::string* out) {
  if (value.has_value()) out->append(" ").append(name).append("=").append(std::to_string(*value));
}

}  // namespace

// Ends at the first field that cannot be encoded: *dst has a part of the record then, which must
// not be written.
bool VersionEdit::EncodeTo(std::string* dst, size_t timestamp_size) const {
  PutTagged(dst, kTagDbId, db_id);
  PutTagged(dst, kTagComparator, family.comparator);
  PutTagged(dst, kTagLogNumber, log_number);
  PutTagged(dst, kTagPrevLogNumber, numbers.prev_log);
  PutTagged(dst, kTagNextFileNumber, numbers.next_file);
  PutTagged(dst, kTagMinLogNumberToKeep, numbers.min_log_to_keep);
  PutTagged(dst, kTagMaxColumnFamily, std::optional<uint64_t>(numbers.max_column_family));
  PutTagged(dst, kTagLastSequence, numbers.last_sequence);
  for (const auto& [level, key] : compact_cursors) {
    if (key.empty() || level < 0) return false;
    PutVarint32(dst, kTagCompactCursor);
    PutVarint32(dst, static_cast<uint32_t>(level));
    PutKey(dst, key);
  }
  for (const auto& [level, number] : deleted_files) {
    if (level < 0) return false;
    PutVarint32(dst, kTagDeletedFile);
    PutVarint32(dst, static_cast<uint32_t>(level));
    PutVarint64(dst, number);
  }
  for (const NewFile& file : new_files) {
    if (!EncodeFile(file, timestamp_size, dst)) return false;
  }
  for (const BlobFileFacts& file : new_blob_files) EncodeBlobFile(file, dst);
  for (const BlobGarbage& garbage : blob_garbage) EncodeGarbage(garbage, dst);
  if (column_family != 0) PutTagged(dst, kTagColumnFamily, std::optional<uint64_t>(column_family));
  PutTagged(dst, kTagColumnFamilyAdd, family.added);
  if (family.dropped) PutVarint32(dst, kTagColumnFamilyDrop);
  PutTagged(dst, kTagInAtomicGroup, std::optional<uint64_t>(atomic_group_remaining));
  PutTagged(dst, kTagFullHistoryTsLow, family.full_history_ts_low);
  if (family.persist_timestamps.has_value()) {
    PutTagged(dst, kTagPersistTimestamps, std::string(1, *family.persist_timestamps ? '\1' : '\0'));
  }
  PutTagged(dst, kTagMergeOperator, family.merge_operator);
  PutNumbers(dst, kTagGoneTables, gone_tables);
  std::vector<uint64_t> logs;
  for (const auto& [first, end] : unread_logs) logs.insert(logs.end(), {first, end});
  PutNumbers(dst, kTagUnreadLogs, logs);
  if (ttl_clock.has_value()) PutNumbers(dst, kTagTtlClock, {*ttl_clock});
  for (const ChangePosition& position : change_positions) {
    std::string bytes;
    position.EncodeTo(&bytes);
    PutTagged(dst, kTagChangePosition, std::optional<std::string>(std::move(bytes)));
  }
  return true;
}

Status VersionEdit::DecodeFrom(const Slice& record) {
  *this = VersionEdit();
  return EditDecoder(record, this).Run();
}

std::string VersionEdit::DebugString(bool hex_keys) const {
  std::string out = "edit cf=" + std::to_string(column_family);
  if (db_id.has_value()) out.append(" db_id=").append(*db_id);
  if (family.comparator.has_value()) out.append(" comparator=").append(*family.comparator);
  AppendNumberText("log", log_number, &out);
  AppendNumberText("prev_log", numbers.prev_log, &out);
  AppendNumberText("next_file", numbers.next_file, &out);
  AppendNumberText("last_seq", numbers.last_sequence, &out);
  AppendNumberText("min_log", numbers.min_log_to_keep, &out);
  AppendNumberText("max_cf", numbers.max_column_family, &out);
  AppendNumberText("ttl_clock", ttl_clock, &out);
  AppendNumberText("group_remaining", atomic_group_remaining, &out);
  if (family.added.has_value()) out.append(" add=").append(*family.added);
  if (family.dropped) out.append(" drop");
  if (family.merge_operator.has_value())
    out.append(" merge_operator=").append(*family.merge_operator);
  if (family.full_history_ts_low.has_value()) {
    out.append(" full_history_ts_low=")
        .append(Slice(*family.full_history_ts_low).ToString(/*hex=*/true));
  }
  AppendNumberText("persist_timestamps", family.persist_timestamps, &out);
  for (const auto& [level, number] : deleted_files) {
    out.append("\n  - L" + std::to_string(level) + " " + std::to_string(number));
  }
  for (const NewFile& file : new_files) {
    out.append("\n  + L" + std::to_string(file.level) + " " + std::to_string(file.number) + " " +
               std::to_string(file.size) + "B [");
    AppendKeyText(file.smallest, hex_keys, &out);
    out.append(" .. ");
    AppendKeyText(file.largest, hex_keys, &out);
    out.append("] seq " + std::to_string(file.smallest_seq) + ".." +
               std::to_string(file.largest_seq) + " epoch " + std::to_string(file.epoch_number));
    if (!file.timestamps_persisted) out.append(" without timestamps");
    if (file.oldest_blob_file_number != 0) {
      out.append(" blob files from " + std::to_string(file.oldest_blob_file_number));
    }
  }
  for (const BlobFileFacts& file : new_blob_files) {
    out.append("\n  + blob file " + std::to_string(file.number) + " of " +
               std::to_string(file.count) + " values, " + std::to_string(file.bytes) + "B");
    if (file.referred_once) out.append(", each referred to once");
  }
  for (const BlobGarbage& garbage : blob_garbage) {
    out.append("\n  garbage in blob file " + std::to_string(garbage.number) + ": " +
               std::to_string(garbage.count) + " values, " + std::to_string(garbage.bytes) + "B");
  }
  for (uint64_t number : gone_tables) out.append("\n  gone " + std::to_string(number));
  for (const auto& [first, end] : unread_logs) {
    out.append("\n  unread logs " + std::to_string(first) + ".." + std::to_string(end));
  }
  for (const ChangePosition& position : change_positions) {
    out.append("\n  position ").append(position.name);
    out.append(position.dropped ? " dropped" : " at " + std::to_string(position.next));
  }
  for (const auto& [level, key] : compact_cursors) {
    out.append("\n  cursor L" + std::to_string(level) + " ");
    AppendKeyText(key, hex_keys, &out);
  }
  return out;
}

}  // namespace varve
