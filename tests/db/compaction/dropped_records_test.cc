// SPDX-License-Identifier: Apache-2.0

// Tests which records a compaction is taken to have dropped: those that were read and not kept, of
// files that may have holes, and never bytes outside of a file's records.

#include "db/compaction/dropped_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/blob/blob_file_format.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kDroppedBytes = 100;
const char kDroppedKey[] = "key";
constexpr uint64_t kDroppedRecordBytes = BlobRecordBytes(3, kDroppedBytes);

BlobFileState FileOf(uint64_t number, bool referred_once, const std::string& checksum = "") {
  BlobFileFacts facts;
  facts.number = number;
  facts.count = 10;
  facts.bytes = 10 * kDroppedRecordBytes;
  facts.referred_once = referred_once;
  facts.checksum = {checksum, checksum};
  BlobFileState state;
  state.blobs = std::make_shared<const BlobFile>(facts, nullptr);
  return state;
}

// Returns a reference to the value of this record of a file.
BlobReference ReferenceTo(uint64_t number, uint64_t index) {
  BlobReference reference;
  reference.file_number = number;
  reference.offset = BlobFileHeader::kBytes + (index + 1) * kDroppedRecordBytes - kDroppedBytes;
  reference.size = kDroppedBytes;
  return reference;
}

ByteRange RangeOf(uint64_t first, uint64_t end) {
  return {BlobFileHeader::kBytes + first * kDroppedRecordBytes,
          BlobFileHeader::kBytes + end * kDroppedRecordBytes};
}

TEST(DroppedRecordsTest, WhatIsNotKeptWasDropped) {
  const BlobFiles files({FileOf(5, true), FileOf(7, true)});
  DroppedRecords dropped(&files);
  for (uint64_t i = 0; i < 10; ++i) dropped.Read(kDroppedKey, ReferenceTo(5, i));
  for (const uint64_t i : {0, 3, 4, 9}) dropped.Keep(kDroppedKey, ReferenceTo(5, i));
  dropped.Read(kDroppedKey, ReferenceTo(7, 2));
  RecordsByFile records = dropped.Take();
  EXPECT_THAT(records, SizeIs(2));
  EXPECT_THAT(records[5].List(), ElementsAre(RangeOf(1, 3), RangeOf(5, 9)));
  EXPECT_THAT(records[7].List(), ElementsAre(RangeOf(2, 3)));
  EXPECT_THAT(dropped.Take(), IsEmpty());
}

TEST(DroppedRecordsTest, OtherFilesAreLeftAlone) {
  const BlobFiles files({FileOf(5, false), FileOf(7, true, "checksum")});
  DroppedRecords dropped(&files);
  for (const uint64_t number : {5, 6, 7}) dropped.Read(kDroppedKey, ReferenceTo(number, 0));
  EXPECT_THAT(dropped.Take(), IsEmpty());
}

TEST(DroppedRecordsTest, ReferencesThatDoNotFitAreLeftAlone) {
  const BlobFiles files({FileOf(5, true)});
  DroppedRecords dropped(&files);
  BlobReference reference = ReferenceTo(5, 9);
  reference.size++;
  dropped.Read(kDroppedKey, reference);
  reference = ReferenceTo(5, 0);
  reference.offset--;
  dropped.Read(kDroppedKey, reference);
  reference = ReferenceTo(5, 0);
  reference.offset = UINT64_MAX - 10;
  dropped.Read(kDroppedKey, reference);
  reference = ReferenceTo(5, 0);
  reference.size = UINT64_MAX - 10;
  dropped.Read(kDroppedKey, reference);
  EXPECT_THAT(dropped.Take(), IsEmpty());
}

}  // namespace
}  // namespace varve
