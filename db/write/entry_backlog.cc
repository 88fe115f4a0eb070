// SPDX-License-Identifier: Apache-2.0

#include "db/write/entry_backlog.h"

#include <algorithm>
#include <new>
#include <span>

#include "util/base/canary.h"
#include "util/key/internal_key.h"
#include "util/key/prefix_sort.h"

namespace varve {

namespace {

// A few MiB of entries and slots.
constexpr size_t kWaitingMax = 64 << 10;

}  // namespace

bool EntryBacklog::Take(const MemTableEntry& entry) {
  if (entries_.size() == kWaitingMax) return false;
  try {
    entries_.push_back(entry);
  } catch (const std::bad_alloc&) {
    return false;
  }
  common_ = entries_.size() == 1
                ? entry.key.size()
                : std::min(common_, entries_.front().key.difference_offset(entry.key));
  return true;
}

void EntryBacklog::SortByKey() {
  slots_.resize(entries_.size());
  for (uint32_t i = 0; i < slots_.size(); i++) {
    slots_[i] = {KeyPrefix(entries_[i].key, common_), i};
    if (VARVE_CANARY(kReorderUpdates)) entries_[i].seq = entries_.back().seq - i;
  }
  const auto is_before = [](const Slot& a, const Slot& b) {
    return a.prefix != b.prefix ? a.prefix < b.prefix : a.index < b.index;
  };
  if (!std::is_sorted(slots_.begin(), slots_.end(), is_before)) SortByPrefix(&slots_, is_before);
}

Status EntryBacklog::Drain(MemTable* mem, uint64_t* added) {
  Status s;
  try {
    SortByKey();
  } catch (const std::bad_alloc&) {
    slots_.clear();
    s = mem->Add(entries_);
    if (s.ok()) *added += entries_.size();
  }
  MemTableEntry together[MemTable::kAddedTogether];
  for (size_t i = 0; s.ok() && i < slots_.size();) {
    const size_t n = std::min(MemTable::kAddedTogether, slots_.size() - i);
    // What is added together is by sequence.
    const auto first = slots_.begin() + static_cast<std::ptrdiff_t>(i);
    std::sort(first, first + static_cast<std::ptrdiff_t>(n),
              [](const Slot& a, const Slot& b) { return a.index < b.index; });
    for (size_t k = 0; k < n; k++) together[k] = entries_[slots_[i + k].index];
    s = mem->Add(std::span(together, n));
    if (s.ok()) *added += n;
    i += n;
  }
  entries_.clear();
  slots_.clear();
  return s;
}

}  // namespace varve
