// SPDX-License-Identifier: Apache-2.0

// Implements the collector that requests compaction of tables with many deletions.

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

#include "varve/utilities/table_properties_collectors.h"

namespace varve {

namespace {

// Number of parts of the window, each a count of deletions; the window moves on by a part.
constexpr size_t kParts = 128;

// Counts deletions in a window that slides over the entries. The window is a ring of parts, each a
// count:
//
//   parts_   [ 3 ][ 0 ][ 7 ] .. [ 1 ]   in_window_ is their sum
//                   ^ current_; when it is full, the oldest part is taken out of the sum and reused
//
// So the window's length is exact to a part, and memory does not depend on it.
class CompactOnDeletionCollector final : public TablePropertiesCollector {
 public:
  CompactOnDeletionCollector(size_t window, size_t trigger, double ratio, uint64_t min_bytes)
      : part_entries_((window + kParts - 1) / kParts),
        trigger_(trigger),
        ratio_(ratio),
        min_bytes_(min_bytes) {}

  // Counts the entry, and moves the window on if its newest part is full. Once a window was dense
  // enough the answer is known, and the window is not needed any more.
  Status AddUserKey(const Slice&, const Slice&, EntryType type, SequenceNumber,
                    uint64_t file_bytes) override {
    const bool deletes =
        type == kEntryDelete || type == kEntrySingleDelete || type == kEntryDeleteWithTimestamp;
    entries_++;
    deletions_ += deletes;
    file_bytes_ = file_bytes;
    if (part_entries_ == 0 || dense_) return Status::OK();
    if (in_part_ == part_entries_) {
      current_ = (current_ + 1) % kParts;
      in_window_ -= parts_[current_];
      parts_[current_] = 0;
      in_part_ = 0;
    }
    in_part_++;
    parts_[current_] += deletes;
    in_window_ += deletes;
    dense_ = trigger_ > 0 && in_window_ >= trigger_;
    return Status::OK();
  }

  Status Finish(UserCollectedProperties*) override {
    const bool by_ratio = ratio_ > 0 && ratio_ <= 1 && entries_ > 0 &&
                          static_cast<double>(deletions_) >= ratio_ * static_cast<double>(entries_);
    need_compact_ = (dense_ || by_ratio) && file_bytes_ >= min_bytes_;
    return Status::OK();
  }

  UserCollectedProperties GetReadableProperties() const override { return {}; }
  const char* Name() const override { return CompactOnDeletionCollectorFactory::kClassName(); }
  bool NeedCompact() const override { return need_compact_; }

 private:
  const size_t part_entries_;  // entries of a part; 0: there is no window
  const size_t trigger_;       // deletions in the window that make it dense; 0: it never is
  const double ratio_;         // share of deletions in the table that suffices; 0: none does
  const uint64_t min_bytes_;   // smaller tables are left alone
  std::array<size_t, kParts> parts_{};  // a ring
  size_t current_ = 0;
  size_t in_part_ = 0;  // entries in the current part
  size_t in_window_ = 0;
  uint64_t entries_ = 0;
  uint64_t deletions_ = 0;
  uint64_t file_bytes_ = 0;
  bool dense_ = false;  // true once a window had enough deletions
  bool need_compact_ = false;
};

}  // namespace

CompactOnDeletionCollectorFactory::~CompactOnDeletionCollectorFactory() = default;

TablePropertiesCollector* CompactOnDeletionCollectorFactory::CreateTablePropertiesCollector(
    Context) {
  return std::make_unique<CompactOnDeletionCollector>(GetWindowSize(), GetDeletionTrigger(),
                                                      GetDeletionRatio(), GetMinFileSize())
      .release();
}

std::string CompactOnDeletionCollectorFactory::ToString() const {
  // The shortest form, independent of the locale.
  char ratio[32];
  const char* const end = std::to_chars(ratio, std::end(ratio), GetDeletionRatio()).ptr;
  std::string text = Name();
  text.append(" (Sliding window size = ").append(std::to_string(GetWindowSize()));
  text.append(" Deletion trigger = ").append(std::to_string(GetDeletionTrigger()));
  text.append(" Deletion ratio = ").append(ratio, static_cast<size_t>(end - ratio)).append(")");
  return text;
}

std::shared_ptr<CompactOnDeletionCollectorFactory> NewCompactOnDeletionCollectorFactory(
    size_t sliding_window_size, size_t deletion_trigger, double deletion_ratio,
    uint64_t min_file_size) {
  return std::make_shared<CompactOnDeletionCollectorFactory>(sliding_window_size, deletion_trigger,
                                                             deletion_ratio, min_file_size);
}

}  // namespace varve
