// SPDX-License-Identifier: Apache-2.0

// Takes candidate keys from file bounds and from a walk over one input, and weighs them by the
// tables' indexes.

#include "db/compaction/subcompaction_bounds.h"

#include <algorithm>

#include "util/base/assert.h"

namespace varve {

namespace {

// Number of candidates from one walked file.
constexpr uint64_t kKeysPerWalk = 64;

// L0 files often span the same range, so that their bounds cut nothing. Then one of them, the
// smallest because its walk is the shortest, stands for all. A walk that ends with an error gives
// fewer keys; the compaction reads the same file, and reports the error.
void AddKeysOfOneFile(const std::vector<CompactionInputFile>& inputs,
                      const InternalKeyComparator& icmp, std::vector<std::string>* keys) {
  const CompactionInputFile* chosen = nullptr;
  for (const CompactionInputFile& input : inputs) {
    if (input.level != 0) continue;
    if (chosen == nullptr || input.file->size < chosen->file->size) chosen = &input;
  }
  if (chosen == nullptr) return;
  const uint64_t entries = chosen->table->properties()->num_entries;
  const uint64_t stride = std::max<uint64_t>(1, entries / kKeysPerWalk);
  ReadOptions read_options;
  read_options.fill_cache = false;
  TableIterOptions iter_options;
  iter_options.for_compaction = true;
  const auto iterator = chosen->table->NewIterator(read_options, iter_options);
  uint64_t n = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    if (++n % stride == 0 && iterator->key().size() >= kInternalKeyTrailerBytes) {
      keys->push_back(icmp.KeyOf(iterator->key()).ToString());
    }
  }
}

// Estimates the bytes of all inputs that lie before a key: whole files, and of a file that has the
// key within its bounds, what its index says.
uint64_t BytesBefore(const std::vector<CompactionInputFile>& inputs,
                     const InternalKeyComparator& icmp, const std::string& key) {
  ReadOptions read_options;
  read_options.fill_cache = false;
  const InternalKey first = icmp.FirstInternalKey(key);
  uint64_t bytes = 0;
  for (const CompactionInputFile& input : inputs) {
    if (icmp.CompareKey(icmp.KeyOf(input.file->largest), key) < 0) {
      bytes += input.file->size;
    } else if (icmp.CompareKey(icmp.KeyOf(input.file->smallest), key) < 0) {
      bytes += input.table->ApproximateOffsetOf(read_options, first.Encode());
    }
  }
  return bytes;
}

}  // namespace

// Cuts where the estimated bytes before a key reach another share. Bounds are user keys, so all
// versions of a key are in one piece.
std::vector<std::string> ChooseSubcompactionBounds(const CompactionPlan& plan,
                                                   const std::vector<CompactionInputFile>& inputs,
                                                   const InternalKeyComparator& icmp,
                                                   uint32_t pieces) {
  uint64_t total = 0;
  for (const CompactionInputFile& input : inputs) total += input.file->size;
  const uint64_t least = std::max<uint64_t>(1, plan.output.target_file_bytes);
  pieces = static_cast<uint32_t>(std::min<uint64_t>(pieces, (total + least - 1) / least));
  std::vector<std::string> bounds;
  if (pieces < 2) return bounds;

  std::vector<std::string> keys;
  for (const CompactionInputFile& input : inputs) {
    keys.push_back(icmp.KeyOf(input.file->smallest).ToString());
    keys.push_back(icmp.KeyOf(input.file->largest).ToString());
  }
  AddKeysOfOneFile(inputs, icmp, &keys);
  std::sort(keys.begin(), keys.end(),
            [&](const std::string& a, const std::string& b) { return icmp.CompareKey(a, b) < 0; });
  keys.erase(
      std::unique(keys.begin(), keys.end(),
                  [&](const std::string& a, const std::string& b) { return icmp.EqualKey(a, b); }),
      keys.end());
  const uint64_t share = total / pieces;
  uint64_t last = 0;
  for (const std::string& key : keys) {
    if (bounds.size() + 1 == pieces) break;
    const uint64_t bytes = BytesBefore(inputs, icmp, key);
    // A cut must leave data on both sides.
    if (bytes >= last + share && bytes < total) {
      bounds.push_back(key);
      last = bytes;
    }
  }
  VARVE_ASSERT(bounds.size() < pieces);
  return bounds;
}

}  // namespace varve
