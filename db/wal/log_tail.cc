// SPDX-License-Identifier: Apache-2.0

// A reader beside a writer may see a block half written: a header without its payload, zeros where
// a record will be, old bytes of a recycled file. All of that is kEnd, "not yet", and the position
// stays at the start of the record, which the next call reads anew, past the buffer. Only what no
// writer leaves is kBad: a length beyond the block, a checksum that differs, fragments out of
// order. The callers decide whether kBad is damage or a race, as they know up to which byte the log
// is whole (`end`).
//
// Zeros are skipped only if they fill the rest of a block in which the next record had no room
// (PassZeros); otherwise they may be a record that is still to come.

#include "db/wal/log_tail.h"

#include <algorithm>
#include <utility>

#include "db/wal/log_format.h"
#include "db/wal/record_decompressor.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/coding/crc32c.h"
#include "util/coding/fixed.h"

namespace varve::wal {

namespace {

constexpr size_t kTailChunkBytes = 256 << 10;
// Unknown types from this one on, those with the highest bit, may be skipped.
constexpr uint8_t kFirstSkippedType = 128;

// Runs for every record, so it avoids a loop.
bool IsZeroHeader(const char* p) {
  return (DecodeFixed32(p) | DecodeFixed16(p + 4) | static_cast<uint8_t>(p[6])) == 0;
}

bool HasOnlyZeros(const char* p, size_t n) {
  return std::all_of(p, p + n, [](char c) { return c == 0; });
}

}  // namespace

LogTail::LogTail(std::unique_ptr<FSRandomAccessFile> file, uint64_t number, std::string path)
    : file_(std::move(file)),
      number_(number),
      path_(std::move(path)),
      buffer_(new char[kTailChunkBytes]) {}

LogTail::~LogTail() = default;

IOStatus LogTail::Open(FileSystem* fs, const std::string& path, uint64_t number,
                       const FileOptions& options, std::unique_ptr<LogTail>* tail) {
  FileOptions plain = options;
  // The file grows while it is read, which a mapping of its present size would not show.
  plain.use_mmap_reads = false;
  plain.use_direct_reads = false;
  std::unique_ptr<FSRandomAccessFile> file;
  VARVE_RETURN_IF_ERROR(fs->NewRandomAccessFile(path, plain, &file, nullptr));
  *tail = std::make_unique<LogTail>(std::move(file), number, path);
  return IOStatus::OK();
}

LogTail::Met LogTail::Bad(const char* reason, uint64_t at) {
  status_ = Status::Corruption(path_, std::string(reason) + " at offset " + std::to_string(at));
  return Met::kBad;
}

LogTail::Met LogTail::Fail(const Status& status) {
  status_ = Status::CopyAppendMessage(status, " in ", path_);
  return Met::kError;
}

// Reads a chunk from `at` on if the bytes are not in the last one. Reads nothing behind `end`,
// where bytes may still change.
bool LogTail::Fetch(uint64_t at, size_t n, uint64_t end, const char** p) {
  VARVE_ASSERT(at <= end && n <= end - at && n <= kTailChunkBytes);
  if (at < chunk_offset_ || at + n > chunk_offset_ + chunk_bytes_) {
    const auto wanted = static_cast<size_t>(std::min<uint64_t>(kTailChunkBytes, end - at));
    chunk_bytes_ = 0;
    Slice got;
    const IOStatus s = file_->Read(at, wanted, IOOptions(), &got, buffer_.get(), nullptr);
    if (!s.ok()) {
      status_ = s;
      return false;
    }
    chunk_ = got.data();
    chunk_offset_ = at;
    chunk_bytes_ = std::min(got.size(), wanted);
    // The file is shorter than the log's end: the rest is still on its way.
    if (chunk_bytes_ < n) return false;
  }
  *p = chunk_ + (at - chunk_offset_);
  return true;
}

// Zeros are the end of what is written, unless they fill the rest of a block and a record follows
// that did not fit into this rest: one that is never split, or one with a longer header. Then *at
// is moved to the next block.
LogTail::Met LogTail::PassZeros(uint64_t end, uint64_t* at) {
  const uint64_t room = kBlockBytes - *at % kBlockBytes;
  if (room >= end - *at) return Met::kEnd;
  const char* p = nullptr;
  if (!Fetch(*at, static_cast<size_t>(room), end, &p)) return Met::kEnd;
  if (!HasOnlyZeros(p, static_cast<size_t>(room))) return Met::kEnd;
  uint64_t next = *at + room;
  if (end - next < kHeaderBytes || !Fetch(next, kHeaderBytes, end, &p)) return Met::kEnd;
  Fragment behind;
  const Met met = ParseFragment(p, kBlockBytes, end, &next, &behind);
  if (met != Met::kRecord) {
    // The bytes behind the zeros may be half written, so they are no evidence of damage.
    if (status_.IsCorruption()) status_ = Status::OK();
    return Met::kEnd;
  }
  // Without padding a header of that record would have had room.
  const bool is_padding = behind.type >= kTimestampSizeType ||
                          (HasRecyclableHeader(behind.type) && room < kRecyclableHeaderBytes);
  if (!is_padding) return Met::kEnd;
  *at += room;
  return Met::kRecord;
}

// Returns the next fragment that has a header, and moves *at behind it. Rests of blocks that are
// too short for a header are passed.
LogTail::Met LogTail::ReadFragment(uint64_t end, uint64_t* at, Fragment* fragment) {
  for (;;) {
    const uint64_t room = kBlockBytes - *at % kBlockBytes;
    if (room < kHeaderBytes) {
      *at += room;
      continue;
    }
    const char* p = nullptr;
    if (*at >= end || end - *at < kHeaderBytes || !Fetch(*at, kHeaderBytes, end, &p)) {
      return status_.ok() ? Met::kEnd : Fail(status_);
    }
    if (!IsZeroHeader(p)) return ParseFragment(p, room, end, at, fragment);
    if (PassZeros(end, at) == Met::kEnd) return status_.ok() ? Met::kEnd : Fail(status_);
  }
}

// Checks the fragment at *at, of whose bytes `p` has at least a header, and moves *at behind it.
// `room` is the rest of its block. In a file that is used again, a sound record of another log's
// number is the end.
LogTail::Met LogTail::ParseFragment(const char* p, uint64_t room, uint64_t end, uint64_t* at,
                                    Fragment* fragment) {
  const auto type = static_cast<uint8_t>(p[6]);
  const size_t header = HasRecyclableHeader(type) ? kRecyclableHeaderBytes : kHeaderBytes;
  const size_t total = header + DecodeFixed16(p + 4);
  if (total > room) return Bad("a record's length runs past its block", *at);
  // The length is within the block but not yet within the whole part of the log: the record is
  // still being written, and its checksum would not say anything.
  if (total > end - *at) return Met::kEnd;
  if (!Fetch(*at, total, end, &p)) return status_.ok() ? Met::kEnd : Fail(status_);
  if (crc32c::Unmask(DecodeFixed32(p)) != crc32c::Value(p + 6, total - 6)) {
    return Bad("checksum mismatch", *at);
  }
  if (header == kRecyclableHeaderBytes &&
      DecodeFixed32(p + kHeaderBytes) != static_cast<uint32_t>(number_)) {
    return Met::kEnd;
  }
  fragment->type = type;
  fragment->payload = Slice(p + header, total - header);
  *at += total;
  return Met::kRecord;
}

// Takes a record without data: notes what it says about the records that follow. It is passed for
// good (next_), so it is not read again with the next data record.
LogTail::Met LogTail::TakeControl(const Fragment& fragment, uint64_t at) {
  Status s;
  switch (fragment.type) {
    case kSetCompressionType:
      if (any_data_) return Bad("a compression record that is not the first", next_);
      s = CheckCompressionRecord(fragment.payload);
      if (!s.ok()) return Fail(s);
      compressed_ = true;
      break;
    case kTimestampSizeType:
    case kRecyclableTimestampSizeType:
      s = DecodeTimestampSizes(fragment.payload, &timestamp_sizes_);
      if (!s.ok()) return Bad("a record of timestamp sizes that is none", next_);
      break;
    default:
      if (fragment.type < kFirstSkippedType) return Bad("a record of unknown type", next_);
  }
  next_ = at;
  return Met::kRecord;
}

LogTail::Met LogTail::Assemble(const Fragment& fragment, uint64_t at, bool* open, Slice* record) {
  const uint8_t type = fragment.type >= kRecyclableFullType
                           ? fragment.type - kRecyclableFullType + kFullType
                           : fragment.type;
  const bool starts = type == kFullType || type == kFirstType;
  // Some writers put an empty first fragment at a block's end, and begin the record again.
  if (starts && *open && !assembled_.empty()) return Bad("a record without its end", next_);
  if (!starts && !*open) return Bad("a record without its start", next_);
  if (type == kFullType) return Deliver(fragment.payload, at, record);
  *open = true;
  assembled_.append(fragment.payload.data(), fragment.payload.size());
  return type == kLastType ? Deliver(assembled_, at, record) : Met::kEnd;
}

LogTail::Met LogTail::Deliver(const Slice& bytes, uint64_t at, Slice* record) {
  *record = bytes;
  if (compressed_) {
    const Status s = DecompressRecord(bytes, &raw_);
    if (!s.ok()) return Fail(s);
    *record = Slice(raw_);
  }
  any_data_ = true;
  before_ = next_;
  next_ = at;
  return Met::kRecord;
}

// Reads fragments until a record is whole. Only Deliver and TakeControl move next_, so after every
// other return the next call begins at the same record again.
LogTail::Met LogTail::Next(uint64_t end, Slice* record) {
  status_ = Status::OK();
  assembled_.clear();
  bool open = false;
  uint64_t at = next_;
  for (;;) {
    Fragment fragment;
    Met met = ReadFragment(end, &at, &fragment);
    if (met == Met::kRecord) {
      // Types from 128 on are for programs that are newer than this one, and may be passed by
      // design.
      if (open && fragment.type >= kFirstSkippedType) continue;
      if (fragment.type == kZeroType || (open && fragment.type >= kSetCompressionType)) {
        met = Bad("a record of a type that cannot be there", at);
      } else if (fragment.type >= kSetCompressionType) {
        met = TakeControl(fragment, at);
        if (met == Met::kRecord) continue;
      } else {
        met = Assemble(fragment, at, &open, record);
        if (met == Met::kRecord) return met;
        if (met == Met::kEnd) continue;
      }
    }
    chunk_bytes_ = 0;  // The bytes read may have been in the process of being stored.
    return met;
  }
}

void LogTail::PutBack() {
  VARVE_ASSERT(before_ < next_);
  next_ = before_;
  chunk_bytes_ = 0;
}

}  // namespace varve::wal
