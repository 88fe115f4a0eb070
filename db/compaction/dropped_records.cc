// SPDX-License-Identifier: Apache-2.0
#include "db/compaction/dropped_records.h"

#include "db/blob/blob_file_format.h"

namespace varve {

bool MayHaveHoles(const BlobFileFacts& facts) {
  return facts.referred_once && facts.checksum == BlobFileChecksum();
}

// The lookup of the file comes before the arithmetic, which a reference could make overflow.
bool DroppedRecords::Locate(const Slice& user_key, const BlobReference& reference,
                            ByteRange* record) const {
  const BlobFileState* const file = files_.Find(reference.file_number);
  if (file == nullptr || !MayHaveHoles(file->blobs->facts())) return false;
  const uint64_t before_value = BlobRecordHeader::kBytes + user_key.size();
  const uint64_t end_of_records = BlobFileHeader::kBytes + file->bytes();
  if (reference.offset < BlobFileHeader::kBytes + before_value) return false;
  if (reference.offset > end_of_records || reference.size > end_of_records - reference.offset) {
    return false;
  }
  *record = {reference.offset - before_value, reference.offset + reference.size};
  return true;
}

void DroppedRecords::Read(const Slice& user_key, const BlobReference& reference) {
  ByteRange record;
  if (!Locate(user_key, reference, &record)) return;
  const MutexLock lock(&mu_);
  if (ranges_ >= kMostRanges) return;
  ByteRanges& of_file = records_[reference.file_number];
  ranges_ -= of_file.size();
  of_file.Add(record);
  ranges_ += of_file.size();
}

void DroppedRecords::Keep(const Slice& user_key, const BlobReference& reference) {
  ByteRange record;
  if (!Locate(user_key, reference, &record)) return;
  const MutexLock lock(&mu_);
  const auto found = records_.find(reference.file_number);
  if (found == records_.end()) return;
  ranges_ -= found->second.size();
  found->second.Remove(record);
  ranges_ += found->second.size();
}

RecordsByFile DroppedRecords::Take() {
  const MutexLock lock(&mu_);
  ranges_ = 0;
  return std::exchange(records_, {});
}

}  // namespace varve
