// SPDX-License-Identifier: Apache-2.0
#include "db/wal/log_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "db/wal/record_decompressor.h"
#include "util/base/canary.h"
#include "util/coding/crc32c.h"
#include "util/coding/fixed.h"
#include "util/env/sequential_file_reader.h"

namespace varve::wal {

namespace {

constexpr size_t kChunkBytes = size_t{8} * kBlockBytes;
constexpr uint8_t kFirstIgnorableType = 128;

bool AllZero(const char* data, size_t n) {
  return std::all_of(data, data + n, [](char c) { return c == 0; });
}

// Kinds that are never cut: where one does not fit, the rest of the block is zeros.
bool MayFollowZeros(uint8_t type) {
  return type >= kTimestampSizeType;
}

size_t HeaderBytes(uint8_t type) {
  return HasRecyclableHeader(type) ? kRecyclableHeaderBytes : kHeaderBytes;
}

bool ChecksumMatches(const char* header, size_t total) {
  // Type, log number if any, payload: they lie together.
  const uint32_t actual = crc32c::Value(header + 6, total - 6);
  return crc32c::Unmask(DecodeFixed32(header)) == actual;
}

// True if some whole data record inside [data, data + n) ends where the file, or what is not zero
// of it, ends. A log that was cut off has none, as the cut went through its last record.
bool HasRecordAtEnd(const char* data, size_t n) {
  size_t used = n;
  while (used > 0 && data[used - 1] == 0) used--;
  for (size_t i = 0; i + kHeaderBytes <= n && i < used; i++) {
    const auto type = static_cast<uint8_t>(data[i + 6]);
    if (type < kFullType || type > kRecyclableLastType) continue;
    const size_t total = HeaderBytes(type) + DecodeFixed16(data + i + 4);
    if (total > n - i || i + total < used) continue;
    if (ChecksumMatches(data + i, total)) return true;
  }
  return false;
}

// What may be spent on looking for records behind a damage; far more than honest data needs.
constexpr uint64_t kSearchBytes = uint64_t{256} << 20;

// The first byte from `at` on that is not zero, or n.
size_t SkipZeros(const char* data, size_t at, size_t n) {
  uint64_t word = 0;
  while (at + sizeof(word) <= n) {
    std::memcpy(&word, data + at, sizeof(word));
    if (word != 0) break;
    at += sizeof(word);
  }
  while (at < n && data[at] == 0) at++;
  return at;
}

// True if a whole first fragment of a record starts in [from, n) of these blocks, or if so much
// looks like one that `budget`, in bytes to be checked, does not suffice.
bool HasRecordStart(const char* data, size_t from, size_t n, uint64_t* budget) {
  for (size_t at = SkipZeros(data, from, n); at < n; at = SkipZeros(data, at + 1, n)) {
    const auto type = static_cast<uint8_t>(data[at]);
    const bool starts = type == kFullType || type == kFirstType || type == kRecyclableFullType ||
                        type == kRecyclableFirstType;
    if (!starts || at < from + kHeaderBytes - 1) continue;
    const size_t header = at - (kHeaderBytes - 1);
    const size_t total = HeaderBytes(type) + DecodeFixed16(data + header + 4);
    if (total > std::min(n - header, kBlockBytes - header % kBlockBytes)) continue;
    if (*budget < total) return true;
    *budget -= total;
    if (ChecksumMatches(data + header, total)) return true;
  }
  return false;
}

// A power loss keeps or drops what was not synced by whole sectors, and a dropped one reads as
// zeros.
constexpr uint64_t kSectorBytes = 512;

// True if a sector of the file, as far as it lies in the `total` bytes at `offset`, is all zero.
bool LacksSector(const char* p, size_t total, uint64_t offset) {
  for (size_t at = 0; at < total;) {
    const size_t n = std::min<size_t>(total - at, kSectorBytes - (offset + at) % kSectorBytes);
    if (n < total && AllZero(p + at, n)) return true;
    at += n;
  }
  return false;
}

// True if the bytes behind the header, to the end, have the checksum that it states, whatever
// length and kind it claims.
bool IsWholeButForHeader(const char* header, size_t have) {
  if (have < kHeaderBytes) return false;
  for (char type = kFullType; type <= kLastType; type++) {
    const uint32_t crc =
        crc32c::Extend(crc32c::Value(&type, 1), header + kHeaderBytes, have - kHeaderBytes);
    if (crc32c::Unmask(DecodeFixed32(header)) == crc) return true;
  }
  return false;
}

}  // namespace

struct LogReader::Rep {
  // One physical record, or why there is none.
  enum class Outcome {
    kRecord,
    kEnd,  // nothing more to read, or io_status is set
    kBad,  // bad_* say what
  };
  enum class Step { kMore, kDelivered, kStop };
  struct Fragment {
    uint8_t type = 0;
    Slice payload;
    uint64_t offset = 0;
    bool after_zeros = false;  // more than padding
    bool lacks_sector_before = false;
  };

  Rep(std::unique_ptr<SequentialFileReader> reader, uint64_t number, std::string file_name,
      Reporter* r)
      : file(std::move(reader)),
        log_number(number),
        name(std::move(file_name)),
        reporter(r),
        buffer(std::make_unique<char[]>(kChunkBytes)) {}

  bool Read(Slice* record, std::string* scratch, WALRecoveryMode mode);

  Outcome ReadPhysical(Fragment* fragment);
  Outcome ParseRecord(const char* p, size_t have, size_t room, Fragment* fragment);
  bool BearsNumber(const char* p, size_t have, uint8_t type) const;
  Outcome PassZeros(const char* p, size_t have);
  Outcome Bad(size_t bytes, const char* reason);
  Outcome Torn(const char* p, size_t have);
  // True if the n bytes at p, up to the end of the file, hold no whole record: what is left of one
  // append that a power loss took sectors from.
  bool IsUnfinishedTail(const char* p, size_t n) const {
    return last_chunk && p + n == chunk + chunk_size && !HasRecordAtEnd(p, n);
  }
  Step TakeBad(std::string* scratch, WALRecoveryMode mode);
  Step TakeControlRecord(const Fragment& fragment, WALRecoveryMode mode);
  Step TakeData(const Fragment& fragment, Slice* record, std::string* scratch,
                WALRecoveryMode mode);
  Step Deliver(const Slice& bytes, Slice* record, WALRecoveryMode mode);

  // Notes that `bytes` from `offset` on are lost. True if reading goes on behind them.
  bool Damage(uint64_t offset, uint64_t bytes, const std::string& reason, bool torn,
              WALRecoveryMode mode, bool lacks_sector = false);
  IOStatus ReadChunk();
  bool Refill();
  // Reads to the end of the file. True if it was to search, and a record starts behind the damage.
  bool CountRest(bool search);

  uint64_t Offset() const { return chunk_start + pos; }

  const std::unique_ptr<SequentialFileReader> file;
  const uint64_t log_number;
  const std::string name;
  Reporter* const reporter;

  // The chunk at hand: whole blocks but for the file's last.
  const std::unique_ptr<char[]> buffer;
  const char* chunk = nullptr;
  uint64_t chunk_start = 0;
  size_t chunk_size = 0;
  size_t pos = 0;
  bool last_chunk = false;

  bool ended = false;
  bool any_record = false;
  bool any_data = false;
  bool recycled = false;  // the first data is recyclable: a former log's bytes may follow ours
  bool ended_at_other_log = false;
  bool compressed = false;
  uint64_t zero_bytes = 0;  // passed since the last record, in regions that reach a block's end
  TimestampSizes timestamp_sizes;
  LogDamage damage;
  Status io_status;

  // The logical record being put together.
  bool open = false;       // a first fragment was read and the last was not
  bool resyncing = false;  // the rest of a record whose start was dropped may come
  uint64_t start = 0;
  // What was dropped within the open record by itself, and the last place where.
  uint64_t inner_bytes = 0;
  uint64_t inner_offset = 0;

  size_t bad_bytes = 0;
  const char* bad_reason = "";
  bool bad_is_torn = false;
  bool bad_lacks_sector = false;

  std::string raw;  // the last record, decompressed
  uint64_t last_offset = 0;
  uint64_t last_end = 0;
};

IOStatus LogReader::Rep::ReadChunk() {
  Slice read;
  IOStatus s = file->Read(kChunkBytes, &read, buffer.get());
  chunk_start += chunk_size;
  chunk = read.data();
  chunk_size = s.ok() ? read.size() : 0;
  pos = 0;
  last_chunk = !s.ok() || chunk_size < kChunkBytes;
  return s;
}

bool LogReader::Rep::Refill() {
  if (last_chunk) return false;
  IOStatus s = ReadChunk();
  if (!s.ok()) io_status = s;
  return chunk_size > 0;
}

LogReader::Rep::Outcome LogReader::Rep::Bad(size_t bytes, const char* reason) {
  bad_bytes = bytes;
  bad_reason = reason;
  bad_is_torn = recycled;
  bad_lacks_sector = false;
  return Outcome::kBad;
}

// The record at p claims more bytes than the file has.
LogReader::Rep::Outcome LogReader::Rep::Torn(const char* p, size_t have) {
  if (!recycled && (IsWholeButForHeader(p, have) || HasRecordAtEnd(p + 1, have - 1))) {
    return Bad(have, "a record's header does not fit the whole record behind it");
  }
  Bad(have, "the log ends inside a record");
  bad_is_torn = true;
  return Outcome::kBad;
}

LogReader::Rep::Outcome LogReader::Rep::PassZeros(const char* p, size_t have) {
  if (!AllZero(p, have) && !VARVE_CANARY(kReplayPastHole)) {
    damage.hole = true;
    size_t zeros = 0;
    while (p[zeros] == 0) zeros++;
    Bad(have, "zeros with data behind them");
    // What a kept sector begins with may be zero as well.
    bad_lacks_sector = (Offset() + zeros) / kSectorBytes > Offset() / kSectorBytes;
    if (bad_lacks_sector && IsUnfinishedTail(p + zeros, have - zeros)) bad_is_torn = true;
    return Outcome::kBad;
  }
  zero_bytes += have;
  pos += have;
  return Outcome::kRecord;
}

LogReader::Rep::Outcome LogReader::Rep::ReadPhysical(Fragment* fragment) {
  for (;;) {
    if (pos == chunk_size) {
      if (!Refill()) return Outcome::kEnd;
      continue;
    }
    const char* const p = chunk + pos;
    const size_t room = kBlockBytes - pos % kBlockBytes;
    const size_t have = std::min(room, chunk_size - pos);
    if (room < kHeaderBytes) {
      pos += have;
      continue;
    }
    if (have < kHeaderBytes) {
      if (!AllZero(p, have)) return Torn(p, have);
      pos += have;
      continue;
    }
    if (AllZero(p, kHeaderBytes)) {
      if (PassZeros(p, have) == Outcome::kBad) return Outcome::kBad;
      continue;
    }
    return ParseRecord(p, have, room, fragment);
  }
}

// Told by the header alone: even the first record may have been written half over an older log's.
bool LogReader::Rep::BearsNumber(const char* p, size_t have, uint8_t type) const {
  return log_number != 0 && HasRecyclableHeader(type) && have >= kRecyclableHeaderBytes &&
         DecodeFixed32(p + kHeaderBytes) == static_cast<uint32_t>(log_number);
}

LogReader::Rep::Outcome LogReader::Rep::ParseRecord(const char* p, size_t have, size_t room,
                                                    Fragment* fragment) {
  const auto type = static_cast<uint8_t>(p[6]);
  const size_t header = HeaderBytes(type);
  const size_t total = header + DecodeFixed16(p + 4);
  // Padding of recyclable records is longer than a plain header, and no hole.
  fragment->after_zeros = zero_bytes >= kRecyclableHeaderBytes && !MayFollowZeros(type);
  if (fragment->after_zeros) damage.hole = true;
  // A block may end with a first fragment of no more than its header.
  fragment->lacks_sector_before = zero_bytes >= kHeaderBytes;
  zero_bytes = 0;
  if (!any_data && BearsNumber(p, have, type)) recycled = true;
  if (total > room) return Bad(have, "a record's length runs past its block");
  if (total > have) return Torn(p, have);
  if (type == kZeroType || !ChecksumMatches(p, total)) {
    Bad(have, type == kZeroType ? "a record of type 0" : "checksum mismatch");
    bad_lacks_sector = LacksSector(p, total, Offset());
    if (bad_lacks_sector && IsUnfinishedTail(p + 1, have - 1)) bad_is_torn = true;
    return Outcome::kBad;
  }
  if (HasRecyclableHeader(type)) {
    if (log_number == 0) return Bad(have, "a recyclable record where none can be");
    if (DecodeFixed32(p + kHeaderBytes) != static_cast<uint32_t>(log_number)) {
      ended_at_other_log = true;
      return Outcome::kEnd;
    }
  }
  fragment->type = type;
  fragment->payload = Slice(p + header, total - header);
  fragment->offset = Offset();
  pos += total;
  return Outcome::kRecord;
}

bool LogReader::Rep::CountRest(bool search) {
  uint64_t end = Offset();
  uint64_t budget = kSearchBytes;
  bool found = false;
  do {
    if (search && !found) found = HasRecordStart(chunk, pos, chunk_size, &budget);
    size_t used = chunk_size;
    while (used > pos && chunk[used - 1] == 0) used--;
    if (used > pos) end = chunk_start + used;
    // An error here hides nothing: that there is damage is known already.
  } while (!last_chunk && ReadChunk().ok() && chunk_size > 0);
  if (end > damage.first_bad_offset) damage.dropped_bytes = end - damage.first_bad_offset;
  return found;
}

bool LogReader::Rep::Damage(uint64_t offset, uint64_t bytes, const std::string& reason, bool torn,
                            WALRecoveryMode mode, bool lacks_sector) {
  if (offset <= inner_offset) bytes -= std::exchange(inner_bytes, 0);
  if (damage.first_bad_offset == UINT64_MAX) {
    damage.first_bad_offset = offset;
    damage.reason = reason;
    damage.torn_tail = torn;
  }
  const bool go_on = mode == WALRecoveryMode::kSkipAnyCorruptedRecords && !torn;
  if (go_on) {
    damage.dropped_bytes += bytes;
  } else {
    ended = true;
    if (mode == WALRecoveryMode::kSkipAnyCorruptedRecords) {
      damage.dropped_bytes += bytes;
    } else {
      // Writers that store records side by side may be killed while the first of them is not in its
      // place: zeros, the pieces that are, and no record.
      // MANIFESTs get one record between two syncs: a power loss can take any sectors of the last.
      const bool explained = log_number != 0 ? damage.hole : lacks_sector;
      const bool in_question = explained && !damage.torn_tail;
      if (!CountRest(in_question) && in_question) damage.torn_tail = true;
    }
  }
  if (reporter != nullptr) {
    reporter->Corruption(static_cast<size_t>(bytes),
                         Status::Corruption(name, reason + " at offset " + std::to_string(offset)));
  }
  return go_on;
}

LogReader::Rep::Step LogReader::Rep::TakeBad(std::string* scratch, WALRecoveryMode mode) {
  const uint64_t from = open ? start : Offset();
  const uint64_t bytes = Offset() + bad_bytes - from;
  if (!Damage(from, bytes, bad_reason, bad_is_torn, mode, bad_lacks_sector)) {
    return Step::kStop;
  }
  pos += bad_bytes;
  open = false;
  resyncing = true;
  scratch->clear();
  return Step::kMore;
}

LogReader::Rep::Step LogReader::Rep::TakeControlRecord(const Fragment& fragment,
                                                       WALRecoveryMode mode) {
  std::string broken;
  switch (fragment.type) {
    case kSetCompressionType:
      if (any_record) {
        broken = "a compression record that is not the first";
      } else {
        io_status = CheckCompressionRecord(fragment.payload);
        compressed = true;
      }
      break;
    case kTimestampSizeType:
    case kRecyclableTimestampSizeType: {
      const Status s = DecodeTimestampSizes(fragment.payload, &timestamp_sizes);
      if (!s.ok()) broken = s.ToString();
      if (s.ok() && !open) last_end = Offset();
      break;
    }
    default:
      if (fragment.type < kFirstIgnorableType) broken = "a record of unknown type";
  }
  any_record = true;
  if (!io_status.ok()) {
    io_status = Status::CopyAppendMessage(io_status, " in ", name);
    return Step::kStop;
  }
  if (broken.empty()) return Step::kMore;
  const uint64_t bytes = Offset() - fragment.offset;
  if (!Damage(fragment.offset, bytes, broken, false, mode)) return Step::kStop;
  if (open) {
    inner_bytes = (inner_offset >= start ? inner_bytes : 0) + bytes;
    inner_offset = fragment.offset;
  }
  return Step::kMore;
}

LogReader::Rep::Step LogReader::Rep::TakeData(const Fragment& fragment, Slice* record,
                                              std::string* scratch, WALRecoveryMode mode) {
  any_record = true;
  any_data = true;
  const uint8_t type = fragment.type >= kRecyclableFullType
                           ? fragment.type - kRecyclableFullType + kFullType
                           : fragment.type;
  const bool starts = type == kFullType || type == kFirstType;
  // An empty first fragment at a block's end, begun anew in the next, is some writers' habit.
  if (starts && open && !scratch->empty() &&
      !Damage(start, fragment.offset - start, "a record without its end", false, mode)) {
    return Step::kStop;
  }
  // What lies on both sides of a hole is not one record.
  if (!starts && open && fragment.after_zeros) {
    if (!Damage(start, fragment.offset - start, "a record without its end", false, mode, true)) {
      return Step::kStop;
    }
    open = false;
    resyncing = true;
    scratch->clear();
  }
  if (!starts && !open) {
    const uint64_t bytes = Offset() - fragment.offset;
    if (resyncing) {
      damage.dropped_bytes += bytes;
    } else if (!Damage(fragment.offset, bytes, "a record without its start", false, mode,
                       fragment.lacks_sector_before)) {
      return Step::kStop;
    }
    resyncing = type != kLastType;
    return Step::kMore;
  }
  resyncing = false;
  open = type == kFirstType || type == kMiddleType;
  if (starts) {
    start = fragment.offset;
    scratch->clear();
  }
  if (type == kFullType) return Deliver(fragment.payload, record, mode);
  scratch->append(fragment.payload.data(), fragment.payload.size());
  return open ? Step::kMore : Deliver(*scratch, record, mode);
}

LogReader::Rep::Step LogReader::Rep::Deliver(const Slice& bytes, Slice* record,
                                             WALRecoveryMode mode) {
  *record = bytes;
  if (compressed) {
    Status s = DecompressRecord(bytes, &raw);
    if (s.IsCorruption()) {
      const bool go_on = Damage(start, Offset() - start, s.ToString(), false, mode);
      return go_on ? Step::kMore : Step::kStop;
    }
    if (!s.ok()) {
      io_status = Status::CopyAppendMessage(s, " in ", name);
      return Step::kStop;
    }
    *record = Slice(raw);
  }
  last_offset = start;
  last_end = Offset();
  return Step::kDelivered;
}

bool LogReader::Rep::Read(Slice* record, std::string* scratch, WALRecoveryMode mode) {
  scratch->clear();
  open = false;
  Step step = ended ? Step::kStop : Step::kMore;
  while (step == Step::kMore) {
    Fragment fragment;
    switch (ReadPhysical(&fragment)) {
      case Outcome::kBad:
        step = TakeBad(scratch, mode);
        break;
      case Outcome::kRecord:
        step = fragment.type > kRecyclableLastType ? TakeControlRecord(fragment, mode)
                                                   : TakeData(fragment, record, scratch, mode);
        break;
      case Outcome::kEnd:
        if (open && io_status.ok()) {
          (void)Damage(start, Offset() - start, "the log ends inside a record", true, mode);
        }
        step = Step::kStop;
        break;
    }
  }
  if (step == Step::kDelivered) return true;
  ended = true;
  record->clear();
  return false;
}

LogReader::LogReader(std::unique_ptr<SequentialFileReader> file, uint64_t log_number,
                     std::string file_name, Reporter* reporter)
    : rep_(std::make_unique<Rep>(std::move(file), log_number, std::move(file_name), reporter)) {}

LogReader::~LogReader() = default;

bool LogReader::ReadRecord(Slice* record, std::string* scratch, WALRecoveryMode mode) {
  return rep_->Read(record, scratch, mode);
}

uint64_t LogReader::LastRecordOffset() const {
  return rep_->last_offset;
}
uint64_t LogReader::LastRecordEnd() const {
  return rep_->last_end;
}
const TimestampSizes& LogReader::timestamp_sizes() const {
  return rep_->timestamp_sizes;
}
const LogDamage& LogReader::damage() const {
  return rep_->damage;
}
bool LogReader::EndedAtOtherLog() const {
  return rep_->ended_at_other_log;
}
Status LogReader::io_status() const {
  return rep_->io_status;
}

}  // namespace varve::wal
