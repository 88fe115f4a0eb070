// SPDX-License-Identifier: Apache-2.0

// The bytes of both records are those of an ordinary batch (FORMAT.md) without counted updates:
//
//      fixed64 sequence | fixed32 0 | kTypeLogData | length | magic | fixed64 log | fixed64 bytes
//      fixed64 sequence | fixed32 0 | kTypeLogData | length | magic                (end record)
//
// The length is one byte, as it is below 128. RocksDB's PutLogData makes the same form, and its
// replay skips it.

#include "db/write/predecessor_log.h"

#include <string_view>

#include "db/write/batch_reader.h"
#include "util/coding/fixed.h"

namespace varve {

namespace {

// All have one length.
constexpr std::string_view kBefore = "varve:log before";
constexpr std::string_view kFound = "varve:log behind";
constexpr std::string_view kEnd = "varve:log closed";
constexpr size_t kMagicBytes = kBefore.size();
static_assert(kFound.size() == kMagicBytes && kEnd.size() == kMagicBytes);
static_assert(kEndRecordBytes == kBatchHeaderBytes + 2 + kMagicBytes);

// Returns a batch of one blob, which is to be `magic` and `more` bytes that the caller appends. Its
// sequence number is `next`, that of the next batch.
std::string BatchOf(SequenceNumber next, std::string_view magic, size_t more) {
  std::string batch;
  PutFixed64(&batch, next);
  PutFixed32(&batch, 0);
  batch.push_back(static_cast<char>(kTypeLogData));
  batch.push_back(static_cast<char>(magic.size() + more));
  batch.append(magic);
  return batch;
}

// Returns the blob of a batch that holds nothing but one blob, which has `bytes` bytes; or an empty
// Slice. All such batches have the same size, which distinguishes most other records.
Slice OnlyBlob(const Slice& record, size_t bytes) {
  if (record.size() != kBatchHeaderBytes + 2 + bytes) return Slice();
  BatchReader reader(record);
  BatchRecord blob;
  const bool only = reader.count() == 0 && reader.Next(&blob) && blob.type == kTypeLogData &&
                    blob.key.size() == bytes;
  return only ? Slice(blob.key) : Slice();
}

}  // namespace

std::string MakePredecessorRecord(const PredecessorLog& predecessor, SequenceNumber next) {
  std::string batch = BatchOf(next, predecessor.found ? kFound : kBefore, 2 * sizeof(uint64_t));
  PutFixed64(&batch, predecessor.number);
  PutFixed64(&batch, predecessor.bytes);
  return batch;
}

bool ParsePredecessorRecord(const Slice& record, PredecessorLog* predecessor) {
  const Slice blob = OnlyBlob(record, kMagicBytes + 2 * sizeof(uint64_t));
  if (blob.empty()) return false;
  predecessor->found = blob.starts_with(Slice(kFound.data(), kMagicBytes));
  if (!predecessor->found && !blob.starts_with(Slice(kBefore.data(), kMagicBytes))) return false;
  predecessor->number = DecodeFixed64(blob.data() + kMagicBytes);
  predecessor->bytes = DecodeFixed64(blob.data() + kMagicBytes + sizeof(uint64_t));
  return true;
}

std::string MakeEndRecord(SequenceNumber next) {
  return BatchOf(next, kEnd, 0);
}

bool HasEndMark(const Slice& record) {
  return OnlyBlob(record, kMagicBytes) == Slice(kEnd.data(), kMagicBytes);
}

}  // namespace varve
