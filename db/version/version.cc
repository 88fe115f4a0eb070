// SPDX-License-Identifier: Apache-2.0

// A Version never changes, so all that speeds up its searches is computed once, when it is built.
//
// Find is asked for each level of each read. Instead of comparing whole keys, it compares numbers:
// of the largest key of each file, the eight bytes after what all keys of the level have in common,
// kept side by side in one array (largest_prefixes_). Only where these eight bytes are equal does
// the comparator decide. That is so for comparators whose order is that of bytes; others get the
// plain binary search.

#include "db/version/version.h"

#include <algorithm>
#include <tuple>

#include "db/version/l0_chains.h"
#include "util/base/assert.h"
#include "util/coding/shared_prefix.h"

namespace varve {

namespace {

// Returns the number of prefixes below `prefix`. The number of iterations depends on n alone, and
// the only decision is a conditional move.
size_t LowerBound(const uint64_t* prefixes, size_t n, uint64_t prefix) {
  if (n == 0) return 0;
  const uint64_t* base = prefixes;
  size_t left = n;
  while (left > 1) {
    const size_t half = left / 2;
    base += base[half - 1] < prefix ? half : 0;
    left -= half;
  }
  return static_cast<size_t>(base - prefixes) + (*base < prefix ? 1 : 0);
}

// Orders files of L0 by age. The epoch decides; files without one, of other programs, fall back on
// their sequence numbers.
bool NewerInL0(const FileRef& a, const FileRef& b) {
  return std::tie(a->epoch_number, a->largest_seq, a->smallest_seq, a->number) >
         std::tie(b->epoch_number, b->largest_seq, b->smallest_seq, b->number);
}

}  // namespace

// Sorts the files, and for a level below L0 whose order is that of bytes, prepares Find: the common
// prefix of all bounds, and the next eight bytes of each largest key.
LevelFiles::LevelFiles(const InternalKeyComparator* icmp, int level, std::vector<FileRef> files)
    : icmp_(icmp), level_(level), files_(std::move(files)) {
  for (const FileRef& file : files_) {
    VARVE_ASSERT(file != nullptr);
    bytes_ += file->size;
  }
  if (level == 0) {
    std::sort(files_.begin(), files_.end(), NewerInL0);
    return;
  }
  std::sort(files_.begin(), files_.end(), [icmp](const FileRef& a, const FileRef& b) {
    return icmp->Compare(a->smallest.Encode(), b->smallest.Encode()) < 0;
  });
  if (files_.empty() || !IsForward(icmp->order())) return;
  // Every bound lies between these two, and so shares their common prefix.
  const Slice first = icmp->KeyOf(files_.front()->smallest);
  const Slice last = icmp->KeyOf(files_.back()->largest);
  shared_prefix_ = std::string(
      first.data(), SharedPrefix(first.data(), last.data(), std::min(first.size(), last.size())));
  largest_prefixes_.reserve(files_.size());
  for (const FileRef& file : files_) {
    largest_prefixes_.push_back(KeyPrefix(icmp->KeyOf(file->largest), shared_prefix_.size()));
  }
}

// Narrows the range [low, high) by the eight bytes, if there are any, and ends with a binary search
// by whole keys in what is left.
size_t LevelFiles::Find(const Slice& internal_key) const {
  VARVE_ASSERT(level_ > 0 || files_.empty());
  VARVE_ASSERT(largest_prefixes_.empty() || largest_prefixes_.size() == files_.size());
  size_t low = 0;
  size_t high = files_.size();
  if (!largest_prefixes_.empty()) {
    const Slice key = icmp_->KeyOf(internal_key);
    const size_t shared = shared_prefix_.size();
    const Slice head(key.data(), std::min(key.size(), shared));
    // A key that does not begin with the common prefix lies before or behind all files.
    const int order = CompareBytes(head, shared_prefix_);
    if (order != 0) return order < 0 ? 0 : files_.size();
    const uint64_t prefix = KeyPrefix(key, shared);
    low = LowerBound(largest_prefixes_.data(), largest_prefixes_.size(), prefix);
    if (low == files_.size() || largest_prefixes_[low] != prefix) return low;
    if (icmp_->Compare(files_[low]->largest.Encode(), internal_key) >= 0) return low;
    low++;
    // Several files may have the same eight bytes. The whole keys decide among those.
    high = prefix == UINT64_MAX
               ? files_.size()
               : LowerBound(largest_prefixes_.data(), largest_prefixes_.size(), prefix + 1);
  }
  while (low < high) {
    const size_t mid = low + (high - low) / 2;
    if (icmp_->Compare(files_[mid]->largest.Encode(), internal_key) < 0) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}

// Deeper levels are sorted, so that a search finds the first file and the walk ends with the first
// one behind the range. In L0 all files are looked at.
std::vector<FileMetaData*> LevelFiles::Overlapping(const Slice* begin, const Slice* end) const {
  std::vector<FileMetaData*> result;
  size_t i = 0;
  if (level_ > 0 && begin != nullptr && !files_.empty()) {
    i = Find(icmp_->FirstInternalKey(*begin).Encode());
  }
  for (; i < files_.size(); i++) {
    FileMetaData* const file = files_[i].get();
    if (end != nullptr && icmp_->CompareKey(icmp_->KeyOf(file->smallest), *end) > 0) {
      if (level_ > 0) break;
      continue;
    }
    // At deeper levels Find has checked this.
    if (level_ == 0 && begin != nullptr &&
        icmp_->CompareKey(icmp_->KeyOf(file->largest), *begin) < 0) {
      continue;
    }
    result.push_back(file);
  }
  return result;
}

Version::Version(const InternalKeyComparator* icmp, uint64_t version_number,
                 std::vector<std::vector<FileRef>> files_by_level, bool reserves_last_level,
                 int surplus_levels, BlobFiles blob_files)
    : icmp_(icmp),
      version_number_(version_number),
      blob_files_(std::move(blob_files)),
      reserves_last_level_(reserves_last_level),
      surplus_levels_(static_cast<uint8_t>(surplus_levels)),
      tombstone_runs_(icmp) {
  VARVE_ASSERT(icmp != nullptr && (!reserves_last_level || files_by_level.size() > 1));
  VARVE_ASSERT(surplus_levels == 0 || !reserves_last_level);
  levels_.reserve(files_by_level.size());
  for (size_t level = 0; level < files_by_level.size(); level++) {
    levels_.emplace_back(icmp, static_cast<int>(level), std::move(files_by_level[level]));
    if (!levels_.back().empty()) non_empty_levels_ = static_cast<int>(level) + 1;
  }
  if (!levels_.empty()) l0_chains_ = CutIntoChains(levels_.front(), icmp);
}

// Compares with the bounds of files alone and reads none. A version that reserves its last level
// answers "may" at once.
bool Version::RangeMayExistFrom(int level, const Slice& begin, const Slice& end) const {
  if (reserves_last_level_ && level < num_levels()) return true;
  for (int l = std::max(level, 0); l < non_empty_levels_; l++) {
    const LevelFiles& files = levels_[static_cast<size_t>(l)];
    if (files.empty()) continue;
    if (l == 0) {
      if (!files.Overlapping(&begin, &end).empty()) return true;
      continue;
    }
    const size_t i = files.Find(icmp_->FirstInternalKey(begin).Encode());
    if (i < files.size() && icmp_->CompareKey(icmp_->KeyOf(files[i]->smallest), end) <= 0) {
      return true;
    }
  }
  return false;
}

FileRef Version::FindByNumber(uint64_t number, int* level) const {
  for (size_t l = 0; l < levels_.size(); l++) {
    for (const FileRef& file : levels_[l].files()) {
      if (file->number != number) continue;
      if (level != nullptr) *level = static_cast<int>(l);
      return file;
    }
  }
  return nullptr;
}

uint64_t Version::TotalBytes() const {
  uint64_t total = 0;
  for (const LevelFiles& files : levels_) total += files.bytes();
  return total;
}

std::vector<uint64_t> Version::FileCounts() const {
  std::vector<uint64_t> counts;
  counts.reserve(levels_.size());
  for (const auto& level : levels_) counts.push_back(level.size());
  return counts;
}

std::string Version::DebugString() const {
  std::string out = "version " + std::to_string(version_number_) + "\n";
  for (size_t l = 0; l < levels_.size(); l++) {
    if (levels_[l].empty()) continue;
    out.append("L" + std::to_string(l) + ":\n");
    for (const FileRef& file : levels_[l].files()) {
      out.append("  " + std::to_string(file->number) + " " + std::to_string(file->size) + "B [" +
                 file->smallest.user_key().ToString(/*hex=*/true) + " .. " +
                 file->largest.user_key().ToString(/*hex=*/true) + "] seq " +
                 std::to_string(file->smallest_seq) + ".." + std::to_string(file->largest_seq) +
                 " epoch " + std::to_string(file->epoch_number) + "\n");
    }
  }
  for (const BlobFileState& file : blob_files_) {
    out.append("blob file " + std::to_string(file.number()) + " " +
               std::to_string(file.FileSize()) + "B garbage " + std::to_string(file.garbage_count) +
               "/" + std::to_string(file.count()) + "\n");
  }
  return out;
}

}  // namespace varve
