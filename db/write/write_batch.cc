// SPDX-License-Identifier: Apache-2.0

// Building a batch: the public calls that change or query one. The bytes in rep_ are the truth
// (FORMAT.md). Everything beside them is derived, and is kept in step by each call:
//
// - the count, in the header itself;
// - content_flags_, the kinds of records; for adopted bytes, which a constructor was given, unknown
//   until somebody asks (Has);
// - timestamped_, which keys end with a timestamp (batch_timestamps.cc);
// - protection_, a checksum of each counted record, if asked for.
//
// Adding a record first checks, then gets the memory, then changes all of them, so that a failure
// leaves them as they were.

#include "varve/write_batch.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "varve/comparator.h"
#include "varve/db.h"

#include "db/write/batch_timestamps.h"
#include "db/write/entity_groups.h"
#include "db/write/record_encoder.h"
#include "db/write/write_batch_internal.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/coding/hash.h"
#include "util/coding/varint.h"
#include "util/key/entity.h"

namespace varve {

namespace {

// Bits of content_flags_.
constexpr uint32_t kHasPut = 1u << 0;
constexpr uint32_t kHasDelete = 1u << 1;
constexpr uint32_t kHasSingleDelete = 1u << 2;
constexpr uint32_t kHasDeleteRange = 1u << 3;
constexpr uint32_t kHasMerge = 1u << 4;
constexpr uint32_t kHasPutEntity = 1u << 5;
constexpr uint32_t kHasTimedPut = 1u << 6;
constexpr uint32_t kHasBlobIndex = 1u << 7;
constexpr uint32_t kHasBeginPrepare = 1u << 8;
constexpr uint32_t kHasEndPrepare = 1u << 9;
constexpr uint32_t kHasCommit = 1u << 10;
constexpr uint32_t kHasRollback = 1u << 11;
// The bytes were adopted and not parsed yet.
constexpr uint32_t kNotKnown = 1u << 31;

uint32_t FlagOf(ValueType type) {
  switch (type) {
    case kTypeValue:
      return kHasPut;
    case kTypeDeletion:
      return kHasDelete;
    case kTypeSingleDeletion:
      return kHasSingleDelete;
    case kTypeRangeDeletion:
      return kHasDeleteRange;
    case kTypeMerge:
      return kHasMerge;
    case kTypeWideColumnEntity:
      return kHasPutEntity;
    case kTypeValuePreferredSeqno:
      return kHasTimedPut;
    case kTypeBlobIndex:
      return kHasBlobIndex;
    case kTypeBeginPrepareXID:
    case kTypeBeginPersistedPrepareXID:
    case kTypeBeginUnprepareXID:
      return kHasBeginPrepare;
    case kTypeEndPrepareXID:
      return kHasEndPrepare;
    case kTypeCommitXID:
    case kTypeCommitXIDAndTimestamp:
      return kHasCommit;
    case kTypeRollbackXID:
      return kHasRollback;
    default:
      return 0;
  }
}

// Returns the flags of all records up to the end or the first damage.
uint32_t FlagsOf(const std::string& rep) {
  uint32_t flags = 0;
  BatchReader reader(rep);
  BatchRecord record;
  while (reader.Next(&record)) flags |= FlagOf(record.type);
  return flags;
}

size_t TotalSize(const SliceParts& parts) {
  size_t total = 0;
  for (int i = 0; i < parts.num_parts; i++) total += parts.parts[i].size();
  return total;
}

// Writes the joined parts and the timestamp to `dst`, and returns the end.
char* PutJoined(char* dst, const SliceParts& parts, const KeyTimestamp& timestamp) {
  for (int i = 0; i < parts.num_parts; i++) {
    if (parts.parts[i].size() != 0) memcpy(dst, parts.parts[i].data(), parts.parts[i].size());
    dst += parts.parts[i].size();
  }
  if (timestamp.size == 0) [[likely]]
    return dst;
  if (timestamp.data != nullptr) {
    memcpy(dst, timestamp.data, timestamp.size);
  } else {
    memset(dst, 0, timestamp.size);
  }
  return dst + timestamp.size;
}

// Makes room for `size` elements. Doubling keeps the cost of many small additions linear.
template <typename Container>
void ReserveDoubling(Container* container, size_t size) {
  if (size > container->capacity()) container->reserve(std::max(size, 2 * container->capacity()));
}

uint32_t IdOf(ColumnFamilyHandle* column_family) {
  return column_family == nullptr ? 0 : column_family->GetID();
}

// Returns a checksum of family, type, key and value, each hashed on top of the former. The sequence
// number is not part of it, as it is assigned after the checksum was made.
uint64_t EntryChecksum(const BatchRecord& record) {
  const uint64_t seed = uint64_t{record.column_family} << 8 | record.type;
  const uint64_t of_key = XXH3Hash64(record.key.data(), record.key.size(), seed);
  return XXH3Hash64(record.value.data(), record.value.size(), of_key);
}

}  // namespace

// Checksums of the counted records, in order. size_is_valid is false if the program asked for
// another size than 8 bytes; the constructor cannot say so, and the first addition fails
// (CheckRoom).
struct WriteBatch::ProtectionInfo {
  std::vector<uint64_t> entries;
  bool size_is_valid = true;

  // Adds the checksums of the records of a whole batch. After an error some may be added.
  static Status Compute(const std::string& rep, std::vector<uint64_t>* checksums) {
    BatchReader reader(rep);
    BatchRecord record;
    while (reader.Next(&record)) {
      if (record.counted) checksums->push_back(EntryChecksum(record));
    }
    return reader.status();
  }
};

// The save points of a batch, oldest first: what it held when each was set. The checksums need no
// entry, as there is one for each counted record.
struct SavePoints {
  struct Point {
    size_t size;
    uint32_t count;
    uint32_t flags;
    uint32_t timestamped_count;
  };
  std::vector<Point> stack;
};

WriteBatch::WriteBatch(size_t reserved_bytes, size_t max_bytes, size_t protection_bytes_per_key,
                       size_t default_cf_ts_sz)
    : content_flags_(0), max_bytes_(max_bytes), default_cf_ts_sz_(default_cf_ts_sz) {
  if (protection_bytes_per_key != 0) {
    protection_ = std::make_unique<ProtectionInfo>();
    protection_->size_is_valid = protection_bytes_per_key == sizeof(uint64_t);
  }
  if (reserved_bytes > kBatchHeaderBytes) rep_.reserve(reserved_bytes);
  rep_.resize(kBatchHeaderBytes);
}

WriteBatch::WriteBatch(const std::string& rep)
    : content_flags_(kNotKnown | WriteBatchInternal::kAdopted), max_bytes_(0), rep_(rep) {}

WriteBatch::WriteBatch(std::string&& rep)
    : content_flags_(kNotKnown | WriteBatchInternal::kAdopted),
      max_bytes_(0),
      rep_(std::move(rep)) {}

WriteBatch::WriteBatch(const WriteBatch& src)
    : WriteBatchBase(src),
      save_points_(src.save_points_ ? std::make_unique<SavePoints>(*src.save_points_) : nullptr),
      protection_(src.protection_ ? std::make_unique<ProtectionInfo>(*src.protection_) : nullptr),
      content_flags_(src.content_flags_.load(std::memory_order_relaxed)),
      max_bytes_(src.max_bytes_),
      default_cf_ts_sz_(src.default_cf_ts_sz_),
      timestamped_(src.timestamped_),
      rep_(src.rep_) {}

// The source is empty and usable afterwards, as a moved-from string alone would lack the header.
WriteBatch::WriteBatch(WriteBatch&& src) noexcept
    : save_points_(std::move(src.save_points_)),
      protection_(std::move(src.protection_)),
      content_flags_(src.content_flags_.load(std::memory_order_relaxed)),
      max_bytes_(src.max_bytes_),
      default_cf_ts_sz_(src.default_cf_ts_sz_),
      timestamped_(std::move(src.timestamped_)),
      rep_(std::move(src.rep_)) {
  src.Clear();
}

WriteBatch& WriteBatch::operator=(const WriteBatch& src) {
  if (this != &src) *this = WriteBatch(src);
  return *this;
}

WriteBatch& WriteBatch::operator=(WriteBatch&& src) {
  if (this != &src) {
    save_points_ = std::move(src.save_points_);
    protection_ = std::move(src.protection_);
    content_flags_.store(src.content_flags_.load(std::memory_order_relaxed),
                         std::memory_order_relaxed);
    max_bytes_ = src.max_bytes_;
    default_cf_ts_sz_ = src.default_cf_ts_sz_;
    timestamped_ = std::move(src.timestamped_);
    rep_ = std::move(src.rep_);
    src.Clear();
  }
  return *this;
}

WriteBatch::~WriteBatch() = default;

void WriteBatch::Clear() {
  rep_.resize(kBatchHeaderBytes);
  memset(rep_.data(), 0, kBatchHeaderBytes);
  content_flags_.store(0, std::memory_order_relaxed);
  save_points_.reset();
  if (protection_ != nullptr) protection_->entries.clear();
  if (timestamped_.count != 0) timestamped_ = {};
}

uint32_t WriteBatch::Count() const {
  return WriteBatchInternal::Count(*this);
}

// Also finds what the constructor could not report: adopted bytes without a header, and a size of
// checksums that is not supported.
Status WriteBatchInternal::CheckRoom(const WriteBatch& batch, bool counted, size_t record_bytes) {
  const std::string& rep = batch.rep_;
  if (rep.size() < kBatchHeaderBytes) {
    return Status::Corruption("write batch: adopted bytes have no header");
  }
  if (counted && Count(batch) == std::numeric_limits<uint32_t>::max()) {
    return Status::InvalidArgument("write batch: as many updates as can be counted");
  }
  if (batch.protection_ != nullptr && !batch.protection_->size_is_valid) {
    return Status::InvalidArgument("write batch: protection_bytes_per_key must be 0 or 8");
  }
  if (batch.max_bytes_ != 0 && rep.size() + record_bytes > batch.max_bytes_) {
    return Status::MemoryLimit("write batch: would grow beyond max_bytes");
  }
  return Status::OK();
}

// Adds a record of any type. First it checks the sizes and gets all memory, then it writes the
// bytes at the end of rep_, and last it changes what is derived from them: the checksum, the count
// and the flags. Whatever fails, lack of memory too, leaves the batch unchanged.
Status WriteBatchInternal::AddRecord(WriteBatch* batch, ValueType type, uint32_t column_family,
                                     const SliceParts& key, const SliceParts& value,
                                     const KeyTimestamp& timestamp) try {
  std::string& rep = batch->rep_;
  const bool has_value = RecordHasValue(type);
  // The value of a range deletion is its end, a key, which gets the timestamp as well.
  const KeyTimestamp value_timestamp = type == kTypeRangeDeletion ? timestamp : KeyTimestamp();
  const size_t key_bytes = TotalSize(key) + timestamp.size;
  const size_t value_bytes = has_value ? TotalSize(value) + value_timestamp.size : 0;
  VARVE_RETURN_IF_ERROR(CheckRecordSizes(key_bytes, value_bytes));
  const bool counted = type != kTypeLogData;
  const size_t record_bytes = RecordStartBytes(column_family, key_bytes) + key_bytes +
                              (has_value ? VarintLength(value_bytes) + value_bytes : 0);
  VARVE_RETURN_IF_ERROR(CheckRoom(*batch, counted, record_bytes));
  const size_t offset = rep.size();
  // The bytes get their memory before the note is made; the resize below can then not fail and
  // leave a note without its record.
  if (timestamp.size != 0) [[unlikely]] {
    ReserveDoubling(&rep, offset + record_bytes);
    NoteTimestamp(batch, column_family, timestamp);
  }
  // If there is no memory for this, nothing has changed. After it only the checksum can fail, and
  // its failure takes the record and the note back.
  rep.resize(offset + record_bytes);
  char* dst =
      EncodeRecordStart(rep.data() + offset, type, column_family, static_cast<uint32_t>(key_bytes));
  dst = PutJoined(dst, key, timestamp);
  if (has_value) {
    dst = EncodeVarint32(dst, static_cast<uint32_t>(value_bytes));
    dst = PutJoined(dst, value, value_timestamp);
  }
  VARVE_ASSERT(dst == rep.data() + rep.size());
  if (batch->protection_ != nullptr && counted) [[unlikely]] {
    Status s = AddChecksum(batch, offset);
    if (!s.ok()) {
      rep.resize(offset);
      if (timestamp.size != 0) ForgetTimestamps(batch, batch->timestamped_.count - 1);
      return s;
    }
  }
  if (counted) SetCount(batch, Count(*batch) + 1);
  // No other thread changes the batch meanwhile. The store is atomic because const calls of other
  // threads may load the flags.
  batch->content_flags_.store(batch->content_flags_.load(std::memory_order_relaxed) | FlagOf(type),
                              std::memory_order_relaxed);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

// Parses the record again, so that the checksum covers what a reader will find. After an error,
// none was added.
Status WriteBatchInternal::AddChecksum(WriteBatch* batch, size_t record_offset) try {
  // A reader takes whole batches, so the record gets a header of its own, with count one.
  std::string one(kBatchHeaderBytes, '\0');
  EncodeFixed32(one.data() + 8, 1);
  one.append(batch->rep_, record_offset, std::string::npos);
  BatchReader reader(one);
  BatchRecord record;
  if (reader.Next(&record)) batch->protection_->entries.push_back(EntryChecksum(record));
  return reader.status();
} catch (...) {
  return CaughtException();
}

// Adds the usual record: one key and one value, without timestamp and checksum. All memory is there
// before the first byte is written, so nothing can fail in between and leave half a record.
Status WriteBatchInternal::AddPlain(WriteBatch* batch, ValueType type, uint32_t column_family,
                                    const Slice& key, const Slice& value) try {
  std::string& rep = batch->rep_;
  VARVE_RETURN_IF_ERROR(CheckRecordSizes(key.size(), value.size()));
  const bool has_value = RecordHasValue(type);
  const size_t head_bytes = RecordStartBytes(column_family, key.size()) + key.size() +
                            (has_value ? VarintLength(value.size()) : 0);
  const size_t record_bytes = head_bytes + value.size();
  VARVE_RETURN_IF_ERROR(CheckRoom(*batch, /*counted=*/true, record_bytes));
  const size_t offset = rep.size();
  if (rep.capacity() - offset < record_bytes) {
    rep.reserve(std::max(offset + record_bytes, 2 * rep.capacity()));
  }
  // Resizes only up to the value, and appends that below: a resize would zero its bytes first.
  rep.resize(offset + head_bytes);
  char* dst = EncodeRecordStart(rep.data() + offset, type, column_family,
                                static_cast<uint32_t>(key.size()));
  if (!key.empty()) memcpy(dst, key.data(), key.size());
  if (has_value) EncodeVarint32(dst + key.size(), static_cast<uint32_t>(value.size()));
  rep.append(value.data(), value.size());
  SetCount(batch, Count(*batch) + 1);
  batch->content_flags_.store(batch->content_flags_.load(std::memory_order_relaxed) | FlagOf(type),
                              std::memory_order_relaxed);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status WriteBatchInternal::AddKey(WriteBatch* batch, ValueType type,
                                  ColumnFamilyHandle* column_family, const Slice& key,
                                  const Slice& value) {
  // AddPlain knows neither checksums nor timestamps.
  if (batch->protection_ != nullptr || TimestampSize(*batch, column_family) != 0) {
    return AddParts(batch, type, column_family, SliceParts(&key, 1), SliceParts(&value, 1));
  }
  return AddPlain(batch, type, IdOf(column_family), key, value);
}

Status WriteBatchInternal::RenewChecksums(WriteBatch* batch) {
  if (batch->protection_ == nullptr) return Status::OK();
  batch->protection_->entries.clear();
  return WriteBatch::ProtectionInfo::Compute(batch->rep_, &batch->protection_->entries);
}

Status WriteBatchInternal::Protect(WriteBatch* batch) {
  if (batch->protection_ != nullptr) return Status::OK();
  auto protection = std::make_unique<WriteBatch::ProtectionInfo>();
  VARVE_RETURN_IF_ERROR(WriteBatch::ProtectionInfo::Compute(batch->rep_, &protection->entries));
  batch->protection_ = std::move(protection);
  return Status::OK();
}

// Does everything that may fail before the records of `dst` change, as records without their
// checksums could not be told from damaged ones. Checksums of `src` are computed from its bytes,
// and not copied, since it may have none; if it has some, its bytes are compared with them first.
// The flags of adopted bytes become those of `dst`.
Status WriteBatchInternal::Append(WriteBatch* dst, const WriteBatch& src) try {
  const uint64_t count = uint64_t{Count(*dst)} + Count(src);
  if (src.rep_.size() < kBatchHeaderBytes || dst->rep_.size() < kBatchHeaderBytes) {
    return Status::Corruption("write batch: adopted bytes have no header");
  }
  if (count > std::numeric_limits<uint32_t>::max()) {
    return Status::InvalidArgument("write batch: more updates than can be counted");
  }
  const size_t added = src.rep_.size() - kBatchHeaderBytes;
  const size_t end = dst->rep_.size() + added;
  if (dst->max_bytes_ != 0 && end > dst->max_bytes_) {
    return Status::MemoryLimit("write batch: would grow beyond max_bytes");
  }
  VARVE_RETURN_IF_ERROR(src.VerifyChecksum());
  if (HasChecksums(src)) VARVE_RETURN_IF_ERROR(Protect(dst));
  std::vector<uint64_t> checksums;
  if (dst->protection_ != nullptr) {
    VARVE_RETURN_IF_ERROR(WriteBatch::ProtectionInfo::Compute(src.rep_, &checksums));
    std::vector<uint64_t>& entries = dst->protection_->entries;
    ReserveDoubling(&entries, entries.size() + checksums.size());
  }
  ReserveDoubling(&dst->rep_, end);
  if (HasTimestamps(src)) NoteTimestampsOf(dst, src);
  // Nothing fails from here on. The length is given explicitly because src may be dst.
  dst->rep_.append(src.rep_, kBatchHeaderBytes, added);
  if (dst->protection_ != nullptr) {
    std::vector<uint64_t>& entries = dst->protection_->entries;
    entries.insert(entries.end(), checksums.begin(), checksums.end());
  }
  SetCount(dst, static_cast<uint32_t>(count));
  dst->content_flags_.store(dst->content_flags_.load(std::memory_order_relaxed) |
                                src.content_flags_.load(std::memory_order_relaxed),
                            std::memory_order_relaxed);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

size_t WriteBatchInternal::TimestampSize(const WriteBatch& batch,
                                         ColumnFamilyHandle* column_family) {
  if (column_family == nullptr) return batch.default_cf_ts_sz_;
  const Comparator* const comparator = column_family->GetComparator();
  return comparator == nullptr ? 0 : comparator->timestamp_size();
}

Status WriteBatchInternal::AddParts(WriteBatch* batch, ValueType type,
                                    ColumnFamilyHandle* column_family, const SliceParts& key,
                                    const SliceParts& value) {
  return AddRecord(batch, type, IdOf(column_family), key, value,
                   {TimestampSize(*batch, column_family), nullptr});
}

Status WriteBatchInternal::AddWithTimestamp(WriteBatch* batch, ValueType type,
                                            ColumnFamilyHandle* column_family, const Slice& key,
                                            const Slice& ts, const Slice& value) try {
  const size_t timestamp_size = TimestampSize(*batch, column_family);
  if (timestamp_size == 0 || ts.size() != timestamp_size) {
    return TimestampSizeError(
        column_family == nullptr ? kDefaultColumnFamilyName : column_family->GetName(), ts.size(),
        timestamp_size);
  }
  return AddRecord(batch, type, IdOf(column_family), SliceParts(&key, 1), SliceParts(&value, 1),
                   {timestamp_size, ts.data()});
} catch (...) {
  return CaughtException();
}

Status WriteBatch::Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) {
  return WriteBatchInternal::AddKey(this, kTypeValue, column_family, key, value);
}

Status WriteBatch::Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
                       const Slice& value) {
  return WriteBatchInternal::AddWithTimestamp(this, kTypeValue, column_family, key, ts, value);
}

Status WriteBatch::Put(ColumnFamilyHandle* column_family, const SliceParts& key,
                       const SliceParts& value) {
  return WriteBatchInternal::AddParts(this, kTypeValue, column_family, key, value);
}

Status WriteBatch::PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                             const WideColumns& columns) try {
  if (column_family == nullptr) {
    return Status::InvalidArgument("write batch: PutEntity needs the handle of a column family");
  }
  if (WriteBatchInternal::TimestampSize(*this, column_family) != 0) {
    return Status::InvalidArgument("write batch: PutEntity, and column family " +
                                   column_family->GetName() +
                                   " has user timestamps, with which there are no entities");
  }
  std::string entity;
  VARVE_RETURN_IF_ERROR(EncodeEntity(columns, &entity));
  return WriteBatchInternal::AddKey(this, kTypeWideColumnEntity, column_family, key, entity);
} catch (...) {
  return CaughtException();
}

Status WriteBatch::PutEntity(const Slice& key, const AttributeGroups& attribute_groups) {
  return PutEntityGroups(this, key, attribute_groups);
}

Status WriteBatch::Delete(ColumnFamilyHandle* column_family, const Slice& key) {
  return WriteBatchInternal::AddKey(this, kTypeDeletion, column_family, key, Slice());
}

Status WriteBatch::Delete(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts) {
  return WriteBatchInternal::AddWithTimestamp(this, kTypeDeletion, column_family, key, ts, Slice());
}

Status WriteBatch::Delete(ColumnFamilyHandle* column_family, const SliceParts& key) {
  return WriteBatchInternal::AddParts(this, kTypeDeletion, column_family, key, SliceParts());
}

Status WriteBatch::SingleDelete(ColumnFamilyHandle* column_family, const Slice& key) {
  return WriteBatchInternal::AddKey(this, kTypeSingleDeletion, column_family, key, Slice());
}

Status WriteBatch::SingleDelete(ColumnFamilyHandle* column_family, const Slice& key,
                                const Slice& ts) {
  return WriteBatchInternal::AddWithTimestamp(this, kTypeSingleDeletion, column_family, key, ts,
                                              Slice());
}

Status WriteBatch::SingleDelete(ColumnFamilyHandle* column_family, const SliceParts& key) {
  return WriteBatchInternal::AddParts(this, kTypeSingleDeletion, column_family, key, SliceParts());
}

Status WriteBatch::DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                               const Slice& end_key) {
  return WriteBatchInternal::AddKey(this, kTypeRangeDeletion, column_family, begin_key, end_key);
}

Status WriteBatch::DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                               const Slice& end_key, const Slice& ts) {
  return WriteBatchInternal::AddWithTimestamp(this, kTypeRangeDeletion, column_family, begin_key,
                                              ts, end_key);
}

Status WriteBatch::DeleteRange(ColumnFamilyHandle* column_family, const SliceParts& begin_key,
                               const SliceParts& end_key) {
  return WriteBatchInternal::AddParts(this, kTypeRangeDeletion, column_family, begin_key, end_key);
}

Status WriteBatch::Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) {
  return WriteBatchInternal::AddKey(this, kTypeMerge, column_family, key, value);
}

Status WriteBatch::Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
                         const Slice& value) {
  return WriteBatchInternal::AddWithTimestamp(this, kTypeMerge, column_family, key, ts, value);
}

Status WriteBatch::Merge(ColumnFamilyHandle* column_family, const SliceParts& key,
                         const SliceParts& value) {
  return WriteBatchInternal::AddParts(this, kTypeMerge, column_family, key, value);
}

Status WriteBatch::PutLogData(const Slice& blob) {
  return WriteBatchInternal::AddRecord(this, kTypeLogData, 0, SliceParts(&blob, 1), SliceParts());
}

void WriteBatch::SetSavePoint() {
  if (save_points_ == nullptr) save_points_ = std::make_unique<SavePoints>();
  save_points_->stack.push_back(
      {rep_.size(), Count(), content_flags_.load(std::memory_order_relaxed), timestamped_.count});
}

// Cuts off everything that additions have appended since the last save point, and forgets that
// point.
Status WriteBatch::RollbackToSavePoint() {
  if (save_points_ == nullptr || save_points_->stack.empty()) {
    return Status::NotFound("write batch: no save point to return to");
  }
  const SavePoints::Point point = save_points_->stack.back();
  save_points_->stack.pop_back();
  // Only this is asserted, and not that a header is there: adopted bytes may be shorter.
  VARVE_ASSERT(point.size <= rep_.size());
  rep_.resize(point.size);
  WriteBatchInternal::SetCount(this, point.count);
  content_flags_.store(point.flags, std::memory_order_relaxed);
  WriteBatchInternal::ForgetTimestamps(this, point.timestamped_count);
  VARVE_ASSERT(protection_ == nullptr || protection_->entries.size() >= point.count);
  if (protection_ != nullptr) protection_->entries.resize(point.count);
  return Status::OK();
}

Status WriteBatch::PopSavePoint() {
  if (save_points_ == nullptr || save_points_->stack.empty()) {
    return Status::NotFound("write batch: no save point to forget");
  }
  save_points_->stack.pop_back();
  return Status::OK();
}

bool WriteBatchInternal::Has(const WriteBatch& batch, uint32_t flag) {
  uint32_t flags = batch.content_flags_.load(std::memory_order_relaxed);
  if ((flags & kNotKnown) != 0) {
    // Adopted bytes are parsed once, when somebody asks. Const callers may race here; all of them
    // store the same value.
    flags = FlagsOf(batch.rep_) | (flags & kAdopted);
    batch.content_flags_.store(flags, std::memory_order_relaxed);
  }
  return (flags & flag) != 0;
}

bool WriteBatch::HasPut() const {
  return WriteBatchInternal::Has(*this, kHasPut);
}
bool WriteBatch::HasTimedPut() const {
  return WriteBatchInternal::Has(*this, kHasTimedPut);
}
bool WriteBatch::HasPutEntity() const {
  return WriteBatchInternal::Has(*this, kHasPutEntity);
}
bool WriteBatch::HasDelete() const {
  return WriteBatchInternal::Has(*this, kHasDelete);
}
bool WriteBatch::HasSingleDelete() const {
  return WriteBatchInternal::Has(*this, kHasSingleDelete);
}
bool WriteBatch::HasDeleteRange() const {
  return WriteBatchInternal::Has(*this, kHasDeleteRange);
}
bool WriteBatch::HasMerge() const {
  return WriteBatchInternal::Has(*this, kHasMerge);
}
bool WriteBatch::HasBeginPrepare() const {
  return WriteBatchInternal::Has(*this, kHasBeginPrepare);
}
bool WriteBatch::HasEndPrepare() const {
  return WriteBatchInternal::Has(*this, kHasEndPrepare);
}
bool WriteBatch::HasCommit() const {
  return WriteBatchInternal::Has(*this, kHasCommit);
}
bool WriteBatch::HasRollback() const {
  return WriteBatchInternal::Has(*this, kHasRollback);
}

// Compares the counted records with the checksums that were made when they were added, one by one,
// and then the two numbers, as records may be missing at the end.
Status WriteBatch::VerifyChecksum() const {
  if (protection_ == nullptr) return Status::OK();
  BatchReader reader(rep_);
  BatchRecord record;
  const std::vector<uint64_t>& entries = protection_->entries;
  while (reader.Next(&record)) {
    if (!record.counted) continue;
    const size_t index = reader.counted_so_far() - 1;
    if (index >= entries.size() || entries[index] != EntryChecksum(record)) {
      return Status::Corruption("write batch: update " + std::to_string(index) +
                                " is not what was added");
    }
  }
  VARVE_RETURN_IF_ERROR(reader.status());
  if (reader.counted_so_far() != entries.size()) {
    return Status::Corruption("write batch: updates are missing");
  }
  return Status::OK();
}

size_t WriteBatch::GetProtectionBytesPerKey() const {
  return protection_ != nullptr && protection_->size_is_valid ? sizeof(uint64_t) : 0;
}

}  // namespace varve
