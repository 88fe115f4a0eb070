// SPDX-License-Identifier: Apache-2.0

// Reads records from a log whose end, or middle, may be anything.
//
//    block (32 KiB): | header payload | header payload | ... | padding |
//    record:           FULL, or FIRST MIDDLE* LAST; recyclable forms bear the log's number
//    header:           checksum 4 | length 2 | type 1 | log number 4 (recyclable forms only)
//
// The writer may have been killed, or have lost power, at any moment. The reader must tell damage,
// which the recovery mode judges, from the remains of an unfinished write, which are no damage:
//
//   what is found                          | explanation                    | is_torn
//   ---------------------------------------+--------------------------------+--------------------
//   the file ends inside a record          | the last append was cut        | yes, unless the
//                                          |                                | record is whole but
//                                          |                                | for its header
//   zeros up to the end                    | preallocated space             | no damage at all
//   zeros, then other bytes                | sectors of unsynced appends    | if no whole record
//                                          | were lost                      | follows
//   a checksum that differs                | a lost sector, if a part of a  | likewise; otherwise
//                                          | sector is all zero             | it is damage
//   a recyclable record of another number  | the file's former log          | the log ends there
//
// Invariants:
//
// 1. Every call makes progress, whatever the bytes are: a physical record, or a bad region of at
//    least one byte, is passed, or reading ends.
// 2. Nothing of a record is used before its checksum was compared. Lengths are checked against the
//    block and the file first.
// 3. A read error is never taken for the end of the log: io_status() has it.
// 4. Bytes are reported as dropped once (open_.inner_bytes), and dropped_bytes counts from the
//    first damage to the last nonzero byte, so preallocated zeros are no loss.
// 5. Writers store records concurrently, so a later record may be in the file although an earlier
//    one is not. Such a hole ends the log in every mode but kSkipAnyCorruptedRecords, as what
//    follows it may depend on what is missing.
// 6. The search for records after damage is bounded (kSearchBytes), so a hostile log cannot make an
//    opening take quadratic time.

#include "db/wal/log_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "db/wal/record_decompressor.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/coding/crc32c.h"
#include "util/coding/fixed.h"
#include "util/env/sequential_file_reader.h"

namespace varve::wal {

namespace {

constexpr uint8_t kFirstIgnorableType = 128;

bool AllZero(const char* data, size_t n) {
  return std::all_of(data, data + n, [](char c) { return c == 0; });
}

// True for types that are never split: where one does not fit, the rest of the block is zeros.
bool MayFollowZeros(uint8_t type) {
  return type >= kTimestampSizeType;
}

size_t HeaderBytes(uint8_t type) {
  return HasRecyclableHeader(type) ? kRecyclableHeaderBytes : kHeaderBytes;
}

bool ChecksumMatches(const char* header, size_t total) {
  // Type, log number if any, and payload are contiguous.
  const uint32_t actual = crc32c::Value(header + 6, total - 6);
  return crc32c::Unmask(DecodeFixed32(header)) == actual;
}

// True if a whole data record inside [data, data + n) ends at the end of the file, or of its
// nonzero bytes. A truncated log has none, because its last record is cut.
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

// Limit of the bytes checked when searching records after damage; far more than normal data needs.
constexpr uint64_t kSearchBytes = uint64_t{256} << 20;

// Returns the first nonzero byte from `at` on, or n.
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

// True if a whole first fragment of a record starts in [from, n) of these blocks, or if checking
// all candidates would exceed `budget` bytes.
bool HasRecordStart(const char* data, size_t from, size_t n, uint64_t* budget) {
  for (size_t at = SkipZeros(data, from, n); at < n; at = SkipZeros(data, at + 1, n)) {
    const auto type = static_cast<uint8_t>(data[at]);
    const bool starts = type == kFullType || type == kFirstType || type == kRecyclableFullType ||
                        type == kRecyclableFirstType;
    if (!starts || at < from + kHeaderBytes - 1) continue;
    // The type, which is never 0, is the last byte of a plain header.
    const size_t header = at - (kHeaderBytes - 1);
    const size_t total = HeaderBytes(type) + DecodeFixed16(data + header + 4);
    if (total > std::min(n - header, kBlockBytes - header % kBlockBytes)) continue;
    // Undecided counts as a record: then the damage is reported.
    if (*budget < total) return true;
    *budget -= total;
    if (ChecksumMatches(data + header, total)) return true;
  }
  return false;
}

// A power loss keeps or drops unsynced data in whole sectors, and a dropped one reads as zeros.
constexpr uint64_t kSectorBytes = 512;

// True if the part of some sector of the file in the `total` bytes at `offset` is all zero.
bool LacksSector(const char* p, size_t total, uint64_t offset) {
  for (size_t at = 0; at < total;) {
    const size_t n = std::min<size_t>(total - at, kSectorBytes - (offset + at) % kSectorBytes);
    if (n < total && AllZero(p + at, n)) return true;
    at += n;
  }
  return false;
}

// True if the bytes after the header, to the end, have the checksum in it, whatever its length and
// type.
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

LogReader::LogReader(std::unique_ptr<SequentialFileReader> file, uint64_t log_number,
                     std::string file_name, Reporter* reporter)
    : chunks_(std::move(file)),
      log_number_(log_number),
      name_(std::move(file_name)),
      reporter_(reporter) {}

LogReader::~LogReader() = default;

// True if the n bytes at p, up to the end of the file, hold no whole record: they are the rest of
// one append of which a power loss took sectors.
bool LogReader::IsUnfinishedTail(const char* p, size_t n) const {
  return chunks_.is_last() && p + n == chunks_.here() + chunks_.left() && !HasRecordAtEnd(p, n);
}

LogReader::Outcome LogReader::Bad(size_t bytes, const char* reason) {
  VARVE_ASSERT(bytes > 0 && bytes <= chunks_.left());
  bad_.bytes = bytes;
  bad_.reason = reason;
  bad_.is_torn = recycled_;
  bad_.lacks_sector = false;
  return Outcome::kBad;
}

// Handles a record at p that claims more bytes than the file has.
LogReader::Outcome LogReader::Torn(const char* p, size_t have) {
  // A crash cuts a log's end; it does not change a header and keep what follows.
  if (!recycled_ && (IsWholeButForHeader(p, have) || HasRecordAtEnd(p + 1, have - 1))) {
    return Bad(have, "a record's header does not fit the whole record after it");
  }
  Bad(have, "the log ends inside a record");
  bad_.is_torn = true;
  return Outcome::kBad;
}

// Zeros up to the end of the block are padding or preallocated space, and are passed. With other
// bytes after them they are a hole, and the whole rest of the block is bad.
LogReader::Outcome LogReader::PassZeros(const char* p, size_t have) {
  // VARVE_CANARY: a bug that only test builds plant (util/base/canary.h).
  if (!AllZero(p, have) && !VARVE_CANARY(kReplayPastHole)) {
    damage_.hole = true;
    size_t zeros = 0;
    while (p[zeros] == 0) zeros++;
    Bad(have, "zeros with data after them");
    // Other bytes behind the zeros in the same sector prove that it was kept. So the zeros can be
    // those of a lost sector only if they reach the next one.
    bad_.lacks_sector = (chunks_.offset() + zeros) / kSectorBytes > chunks_.offset() / kSectorBytes;
    if (bad_.lacks_sector && IsUnfinishedTail(p + zeros, have - zeros)) bad_.is_torn = true;
    return Outcome::kBad;
  }
  zero_bytes_ += have;
  chunks_.Skip(have);
  return Outcome::kRecord;
}

// Passes the ends of chunks, the ends of blocks that are too short for a header, and zeros, until
// there is something to parse.
LogReader::Outcome LogReader::ReadPhysical(Fragment* fragment) {
  for (;;) {
    if (chunks_.left() == 0) {
      if (!chunks_.Next(&io_status_)) return Outcome::kEnd;
      continue;
    }
    const char* const p = chunks_.here();
    const size_t room = chunks_.room();
    const size_t have = std::min(room, chunks_.left());
    if (room < kHeaderBytes) {
      chunks_.Skip(have);
      continue;
    }
    if (have < kHeaderBytes) {
      if (!AllZero(p, have)) return Torn(p, have);
      chunks_.Skip(have);
      continue;
    }
    if (AllZero(p, kHeaderBytes)) {
      if (PassZeros(p, have) == Outcome::kBad) return Outcome::kBad;
      continue;
    }
    return ParseRecord(p, have, room, fragment);
  }
}

// Checks the header alone, because even the first record may be partly written over an older log's.
bool LogReader::BearsNumber(const char* p, size_t have, uint8_t type) const {
  return log_number_ != 0 && HasRecyclableHeader(type) && have >= kRecyclableHeaderBytes &&
         DecodeFixed32(p + kHeaderBytes) == static_cast<uint32_t>(log_number_);
}

// The checks go from what needs fewest bytes to what needs most: the length against the block, then
// against the file, then the checksum, and only then the number, which the checksum covers. A bad
// record reaches to the end of what is left in the block, or of itself if its length can be
// trusted.
LogReader::Outcome LogReader::ParseRecord(const char* p, size_t have, size_t room,
                                          Fragment* fragment) {
  const auto type = static_cast<uint8_t>(p[6]);
  const size_t header = HeaderBytes(type);
  const size_t total = header + DecodeFixed16(p + 4);
  // The padding before a recyclable record can have room for a plain header (ReadPhysical passes it
  // as zeros then), but not for a recyclable one; more zeros are a hole.
  fragment->after_zeros = zero_bytes_ >= kRecyclableHeaderBytes && !MayFollowZeros(type);
  if (fragment->after_zeros) damage_.hole = true;
  // A block may end with a first fragment that is only a header, so zeros with room for one may be
  // the lost beginning of this record.
  fragment->lacks_sector_before = zero_bytes_ >= kHeaderBytes;
  zero_bytes_ = 0;
  if (!any_data_ && BearsNumber(p, have, type)) recycled_ = true;
  if (total > room) return Bad(have, "a record's length runs past its block");
  if (total > have) return Torn(p, have);
  if (type == kZeroType || !ChecksumMatches(p, total)) {
    Bad(have, type == kZeroType ? "a record of type 0" : "checksum mismatch");
    bad_.lacks_sector = LacksSector(p, total, chunks_.offset());
    if (bad_.lacks_sector && IsUnfinishedTail(p + 1, have - 1)) bad_.is_torn = true;
    return Outcome::kBad;
  }
  if (HasRecyclableHeader(type)) {
    if (log_number_ == 0) return Bad(have, "a recyclable record where none can be");
    if (DecodeFixed32(p + kHeaderBytes) != static_cast<uint32_t>(log_number_)) {
      ended_at_other_log_ = true;
      return Outcome::kEnd;
    }
  }
  VARVE_ASSERT(total >= header && total <= chunks_.left());
  fragment->type = type;
  fragment->payload = Slice(p + header, total - header);
  fragment->offset = chunks_.offset();
  chunks_.Skip(total);
  return Outcome::kRecord;
}

// The bytes up to the last nonzero one count as dropped, from the first damage on.
bool LogReader::CountRest(bool search) {
  uint64_t end = chunks_.offset();
  uint64_t budget = kSearchBytes;
  bool found = false;
  Status unread;  // Ignored: the damage is already known.
  do {
    const Slice chunk = chunks_.chunk();
    const size_t from = chunks_.pos();
    if (search && !found) found = HasRecordStart(chunk.data(), from, chunk.size(), &budget);
    size_t used = chunk.size();
    while (used > from && chunk[used - 1] == 0) used--;
    if (used > from) end = chunks_.offset() + (used - from);
  } while (chunks_.Next(&unread));
  if (end > damage_.first_bad_offset) damage_.dropped_bytes = end - damage_.first_bad_offset;
  return found;
}

// Keeps the first damage, counts the bytes, and tells the reporter. If reading ends here, the rest
// of the file is searched: for the end of what is lost, and for a whole record, which decides
// whether an unfinished write explains the damage.
bool LogReader::Damage(uint64_t offset, uint64_t bytes, const std::string& reason, bool torn,
                       WALRecoveryMode mode, bool lacks_sector) {
  // Bytes inside this region that were reported on their own are not counted again.
  if (offset <= open_.inner_offset) bytes -= std::exchange(open_.inner_bytes, 0);
  if (damage_.first_bad_offset == UINT64_MAX) {
    damage_.first_bad_offset = offset;
    damage_.reason = reason;
    damage_.torn_tail = torn;
  }
  const bool go_on = mode == WALRecoveryMode::kSkipAnyCorruptedRecords && !torn;
  if (go_on) {
    damage_.dropped_bytes += bytes;
  } else {
    ended_ = true;
    if (mode == WALRecoveryMode::kSkipAnyCorruptedRecords) {
      // This mode counts each region by itself, and after a torn one nothing of this log follows.
      damage_.dropped_bytes += bytes;
    } else {
      // Writers that store records concurrently may be killed before the first is in its place:
      // this leaves zeros, parts of others, and no whole record. MANIFESTs get one record between
      // two syncs: a power loss can take any sectors of the last.
      const bool explained = log_number_ != 0 ? damage_.hole : lacks_sector;
      const bool in_question = explained && !damage_.torn_tail;
      if (!CountRest(in_question) && in_question) damage_.torn_tail = true;
    }
  }
  if (reporter_ != nullptr) {
    reporter_->Corruption(
        static_cast<size_t>(bytes),
        Status::Corruption(name_, reason + " at offset " + std::to_string(offset)));
  }
  return go_on;
}

// The fragments of the record that was open are lost with the bad bytes, and its remaining ones,
// which may follow, are skipped without being reported again (open_.resyncing).
LogReader::Step LogReader::TakeBad(std::string* scratch, WALRecoveryMode mode) {
  const uint64_t from = open_.begun ? open_.start : chunks_.offset();
  const uint64_t bytes = chunks_.offset() + bad_.bytes - from;
  if (!Damage(from, bytes, bad_.reason, bad_.is_torn, mode, bad_.lacks_sector)) {
    return Step::kStop;
  }
  chunks_.Skip(bad_.bytes);
  open_.begun = false;
  open_.resyncing = true;
  scratch->clear();
  return Step::kMore;
}

// Control records carry no data and may stand between the fragments of a record. A broken one is
// damage of its own bytes, which are remembered, in case the open record is lost as well. A codec
// that cannot be read is an error and no damage.
LogReader::Step LogReader::TakeControlRecord(const Fragment& fragment, WALRecoveryMode mode) {
  std::string broken;
  switch (fragment.type) {
    case kSetCompressionType:
      if (any_record_) {
        broken = "a compression record that is not the first";
      } else {
        io_status_ = CheckCompressionRecord(fragment.payload);
        compressed_ = true;
      }
      break;
    case kTimestampSizeType:
    case kRecyclableTimestampSizeType: {
      const Status s = DecodeTimestampSizes(fragment.payload, &timestamp_sizes_);
      if (!s.ok()) broken = s.ToString();
      if (s.ok() && !open_.begun) last_end_ = chunks_.offset();
      break;
    }
    default:
      if (fragment.type < kFirstIgnorableType) broken = "a record of unknown type";
  }
  any_record_ = true;
  if (!io_status_.ok()) {
    io_status_ = Status::CopyAppendMessage(io_status_, " in ", name_);
    return Step::kStop;
  }
  if (broken.empty()) return Step::kMore;
  const uint64_t bytes = chunks_.offset() - fragment.offset;
  if (!Damage(fragment.offset, bytes, broken, false, mode)) return Step::kStop;
  if (open_.begun) {
    open_.inner_bytes = (open_.inner_offset >= open_.start ? open_.inner_bytes : 0) + bytes;
    open_.inner_offset = fragment.offset;
  }
  return Step::kMore;
}

// Adds a fragment to the open record, or delivers the record that it completes. Three cases are
// damage: a record begins inside another, a part follows that a hole separates from the earlier
// ones, or a part comes without a beginning. In each the lost fragments are reported once, from the
// beginning of their record.
LogReader::Step LogReader::TakeData(const Fragment& fragment, Slice* record, std::string* scratch,
                                    WALRecoveryMode mode) {
  any_record_ = true;
  any_data_ = true;
  const uint8_t type = fragment.type >= kRecyclableFullType
                           ? fragment.type - kRecyclableFullType + kFullType
                           : fragment.type;
  const bool starts = type == kFullType || type == kFirstType;
  // Some writers put an empty first fragment at a block's end, and begin the record again in the
  // next.
  if (starts && open_.begun && !scratch->empty() &&
      !Damage(open_.start, fragment.offset - open_.start, "a record without its end", false,
              mode)) {
    return Step::kStop;
  }
  // The parts before and after a hole are not one record.
  if (!starts && open_.begun && fragment.after_zeros) {
    if (!Damage(open_.start, fragment.offset - open_.start, "a record without its end", false, mode,
                true)) {
      return Step::kStop;
    }
    open_.begun = false;
    open_.resyncing = true;
    scratch->clear();
  }
  if (!starts && !open_.begun) {
    const uint64_t bytes = chunks_.offset() - fragment.offset;
    if (open_.resyncing) {
      damage_.dropped_bytes += bytes;
    } else if (!Damage(fragment.offset, bytes, "a record without its start", false, mode,
                       fragment.lacks_sector_before)) {
      return Step::kStop;
    }
    open_.resyncing = type != kLastType;
    return Step::kMore;
  }
  open_.resyncing = false;
  open_.begun = type == kFirstType || type == kMiddleType;
  if (starts) {
    open_.start = fragment.offset;
    scratch->clear();
  }
  // A whole record is shown where it lies, without a copy.
  if (type == kFullType) return Deliver(fragment.payload, record, mode);
  scratch->append(fragment.payload.data(), fragment.payload.size());
  return open_.begun ? Step::kMore : Deliver(*scratch, record, mode);
}

// A record that cannot be decompressed is damage although its checksums are right.
LogReader::Step LogReader::Deliver(const Slice& bytes, Slice* record, WALRecoveryMode mode) {
  *record = bytes;
  if (compressed_) {
    Status s = DecompressRecord(bytes, &raw_);
    if (s.IsCorruption()) {
      const bool go_on =
          Damage(open_.start, chunks_.offset() - open_.start, s.ToString(), false, mode);
      return go_on ? Step::kMore : Step::kStop;
    }
    if (!s.ok()) {
      io_status_ = Status::CopyAppendMessage(s, " in ", name_);
      return Step::kStop;
    }
    *record = Slice(raw_);
  }
  VARVE_ASSERT(open_.start < chunks_.offset() && open_.start >= last_offset_);
  last_offset_ = open_.start;
  last_end_ = chunks_.offset();
  return Step::kDelivered;
}

// Once reading has ended, for whatever reason, it has ended for good (ended_): what follows damage
// is not delivered by a later call.
bool LogReader::ReadRecord(Slice* record, std::string* scratch, WALRecoveryMode mode) {
  scratch->clear();
  open_.begun = false;
  Step step = ended_ ? Step::kStop : Step::kMore;
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
        if (open_.begun && io_status_.ok()) {
          (void)Damage(open_.start, chunks_.offset() - open_.start, "the log ends inside a record",
                       true, mode);
        }
        step = Step::kStop;
        break;
    }
  }
  if (step == Step::kDelivered) return true;
  ended_ = true;
  record->clear();
  return false;
}

}  // namespace varve::wal
