// SPDX-License-Identifier: Apache-2.0
#include "db/write/predecessor_log.h"

#include <string_view>

#include "db/write/batch_reader.h"
#include "util/coding/fixed.h"

namespace varve {

namespace {

constexpr std::string_view kMagic = "varve:log before";

}  // namespace

std::string MakePredecessorRecord(const PredecessorLog& predecessor, SequenceNumber next) {
  std::string batch;
  PutFixed64(&batch, next);
  PutFixed32(&batch, 0);
  batch.push_back(static_cast<char>(kTypeLogData));
  batch.push_back(static_cast<char>(kMagic.size() + 2 * sizeof(uint64_t)));
  batch.append(kMagic);
  PutFixed64(&batch, predecessor.number);
  PutFixed64(&batch, predecessor.bytes);
  return batch;
}

bool ParsePredecessorRecord(const Slice& record, PredecessorLog* predecessor) {
  // All have the same size, which distinguishes most other records.
  if (record.size() != kBatchHeaderBytes + 2 + kMagic.size() + 2 * sizeof(uint64_t)) return false;
  BatchReader reader(record);
  BatchRecord blob;
  if (reader.count() != 0 || !reader.Next(&blob) || blob.type != kTypeLogData) return false;
  if (!Slice(blob.key).starts_with(Slice(kMagic.data(), kMagic.size()))) return false;
  if (blob.key.size() != kMagic.size() + 2 * sizeof(uint64_t)) return false;
  predecessor->number = DecodeFixed64(blob.key.data() + kMagic.size());
  predecessor->bytes = DecodeFixed64(blob.key.data() + kMagic.size() + sizeof(uint64_t));
  return true;
}

}  // namespace varve
