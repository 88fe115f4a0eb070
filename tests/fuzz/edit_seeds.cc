// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/edit_seeds.h"

namespace varve::fuzz {

namespace {

NewFile FileOf(int level, uint64_t number, const char* smallest, const char* largest) {
  NewFile file;
  file.level = level;
  file.number = number;
  file.size = 1000 + number;
  file.smallest = InternalKey(smallest, number * 10, kTypeValue);
  file.largest = InternalKey(largest, number * 10 + 5, kTypeRangeDeletion);
  file.smallest_seq = number * 10;
  file.largest_seq = number * 10 + 5;
  file.epoch_number = number;
  file.times.oldest_ancestor = 1700000000;
  file.times.created = 1700000001;
  file.tail_size = 300;
  file.unique_id = "0123456789abcdef";
  file.checksum.value = "sum";
  file.checksum.function = "function";
  return file;
}

}  // namespace

std::vector<VersionEdit> ManifestEdits() {
  std::vector<VersionEdit> edits(6);
  edits[0].db_id = "an id";
  edits[0].family.comparator = "leveldb.BytewiseComparator";
  edits[0].log_number = 0;
  edits[0].numbers.next_file = 20;
  edits[0].numbers.last_sequence = 200;
  edits[1].column_family = 1;
  edits[1].family.added = "second";
  edits[1].family.comparator = "leveldb.BytewiseComparator";
  edits[1].log_number = 4;
  edits[1].numbers.max_column_family = 1;
  edits[2].new_files = {FileOf(0, 5, "a", "m"), FileOf(0, 6, "c", "z")};
  edits[2].log_number = 7;
  edits[3].deleted_files = {{0, 5}, {0, 6}};
  edits[3].new_files = {FileOf(2, 8, "a", "f"), FileOf(2, 9, "g", "z")};
  edits[3].compact_cursors.emplace_back(2, InternalKey("g", 8, kTypeValue));
  edits[4].atomic_group_remaining = 1;
  edits[4].column_family = 1;
  edits[4].new_files = {FileOf(0, 11, "k", "k")};
  edits[5].atomic_group_remaining = 0;
  edits[5].numbers.min_log_to_keep = 7;
  edits[5].family.merge_operator = "PutOperator";
  return edits;
}

}  // namespace varve::fuzz
