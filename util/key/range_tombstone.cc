// SPDX-License-Identifier: Apache-2.0

// Cutting tombstones into fragments by a sweep over their bounds, and looking keys up in them.

#include "util/key/range_tombstone.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <utility>

#include "util/base/canary.h"

namespace varve {
namespace {

// The sweep's state: the tombstones that cover the current position, by end and by sequence.
class ActiveTombstones {
 public:
  explicit ActiveTombstones(const InternalKeyComparator& comparator)
      : by_end_(EndsLater{&comparator}) {}

  [[nodiscard]] bool empty() const { return by_end_.empty(); }
  [[nodiscard]] Slice FirstEnd() const { return by_end_.top()->end; }

  void Enter(const RangeTombstone& tombstone) {
    by_end_.push(&tombstone);
    count_by_seq_[tombstone.seq]++;
  }

  // Drops the tombstone that ends first.
  void LeaveFirst() {
    const auto it = count_by_seq_.find(by_end_.top()->seq);
    if (--it->second == 0) count_by_seq_.erase(it);
    by_end_.pop();
  }

  // Distinct, newest first.
  void CopySeqs(std::vector<SequenceNumber>* seqs) const {
    seqs->clear();
    for (const auto& [seq, count] : count_by_seq_) seqs->push_back(seq);
  }

 private:
  struct EndsLater {
    const InternalKeyComparator* comparator;
    bool operator()(const RangeTombstone* a, const RangeTombstone* b) const {
      return comparator->CompareKey(a->end, b->end) > 0;
    }
  };

  std::priority_queue<const RangeTombstone*, std::vector<const RangeTombstone*>, EndsLater> by_end_;
  std::map<SequenceNumber, size_t, std::greater<>> count_by_seq_;
};

}  // namespace

std::shared_ptr<const FragmentedTombstones> FragmentedTombstones::Build(
    std::span<const RangeTombstone> input, const InternalKeyComparator& comparator) {
  std::vector<const RangeTombstone*> by_start;
  by_start.reserve(input.size());
  for (const RangeTombstone& tombstone : input) {
    if (comparator.CompareKey(tombstone.start, tombstone.end) < 0) {
      by_start.push_back(&tombstone);
    }
  }
  std::sort(by_start.begin(), by_start.end(),
            [&comparator](const RangeTombstone* a, const RangeTombstone* b) {
              return comparator.CompareKey(a->start, b->start) < 0;
            });

  std::shared_ptr<FragmentedTombstones> result(new FragmentedTombstones(comparator));
  if (comparator.timestamp_size() != 0) [[unlikely]] {
    for (const RangeTombstone* tombstone : by_start) {
      result->timestamps_.emplace_back(tombstone->seq, tombstone->timestamp);
    }
    auto& timestamps = result->timestamps_;
    std::sort(timestamps.begin(), timestamps.end());
    timestamps.erase(std::unique(timestamps.begin(), timestamps.end()), timestamps.end());
  }
  ActiveTombstones active(comparator);
  std::vector<SequenceNumber> seqs;
  Slice position;
  auto next = by_start.begin();
  while (next != by_start.end() || !active.empty()) {
    // The next bound of any tombstone; between two bounds nothing changes.
    Slice bound;
    if (active.empty()) {
      bound = (*next)->start;
    } else {
      bound = active.FirstEnd();
      if (next != by_start.end() && comparator.CompareKey((*next)->start, bound) < 0) {
        bound = (*next)->start;
      }
      if (comparator.CompareKey(position, bound) < 0) {
        active.CopySeqs(&seqs);
        result->Append(position, bound, seqs);
      }
    }
    while (!active.empty() && comparator.CompareKey(active.FirstEnd(), bound) <= 0) {
      active.LeaveFirst();
    }
    for (; next != by_start.end() && comparator.CompareKey((*next)->start, bound) <= 0; ++next) {
      active.Enter(**next);
    }
    position = bound;
  }
  return result;
}

void FragmentedTombstones::AppendBytes(const Slice& key, size_t* pos, size_t* len) {
  *pos = bytes_.size();
  *len = key.size();
  bytes_.append(key.data(), key.size());
}

void FragmentedTombstones::Append(const Slice& start, const Slice& end,
                                  std::span<const SequenceNumber> seqs) {
  Entry entry{};
  const bool touches = !fragments_.empty() && EqualBytes(EndOf(fragments_.back()), start);
  if (touches) {
    Entry& last = fragments_.back();
    if (std::equal(seqs.begin(), seqs.end(), seqs_.begin() + static_cast<ptrdiff_t>(last.seq_begin),
                   seqs_.begin() + static_cast<ptrdiff_t>(last.seq_end))) {
      AppendBytes(end, &last.end_pos, &last.end_len);
      return;
    }
    entry.start_pos = last.end_pos;
    entry.start_len = last.end_len;
  } else {
    AppendBytes(start, &entry.start_pos, &entry.start_len);
  }
  AppendBytes(end, &entry.end_pos, &entry.end_len);
  entry.seq_begin = seqs_.size();
  seqs_.insert(seqs_.end(), seqs.begin(), seqs.end());
  entry.seq_end = seqs_.size();
  max_seq_ = fragments_.empty() ? seqs.front() : std::max(max_seq_, seqs.front());
  min_seq_ = fragments_.empty() ? seqs.back() : std::min(min_seq_, seqs.back());
  fragments_.push_back(entry);
}

FragmentedTombstones::Fragment FragmentedTombstones::fragment(size_t index) const {
  const Entry& entry = fragments_[index];
  return {StartOf(entry), EndOf(entry),
          std::span(seqs_).subspan(entry.seq_begin, entry.seq_end - entry.seq_begin)};
}

size_t FragmentedTombstones::MemoryUsage() const {
  return sizeof(*this) + bytes_.capacity() + seqs_.capacity() * sizeof(SequenceNumber) +
         timestamps_.capacity() * sizeof(Timestamps::value_type) +
         fragments_.capacity() * sizeof(Entry);
}

Slice FragmentedTombstones::timestamp(SequenceNumber seq) const {
  const auto it =
      std::partition_point(timestamps_.begin(), timestamps_.end(),
                           [seq](const Timestamps::value_type& one) { return one.first < seq; });
  return it == timestamps_.end() || it->first != seq ? Slice() : Slice(it->second);
}

size_t FragmentedTombstones::LowerBound(const Slice& key) const {
  const auto it = std::partition_point(fragments_.begin(), fragments_.end(), [&](const Entry& e) {
    const int order = comparator_.CompareKey(EndOf(e), key);
    return VARVE_CANARY(kRangeEndInclusive) ? order < 0 : order <= 0;
  });
  return static_cast<size_t>(it - fragments_.begin());
}

size_t FragmentedTombstones::UpperBound(const Slice& key) const {
  const auto it = std::partition_point(fragments_.begin(), fragments_.end(), [&](const Entry& e) {
    return comparator_.CompareKey(StartOf(e), key) <= 0;
  });
  return static_cast<size_t>(it - fragments_.begin());
}

SequenceNumber FragmentedTombstones::NewestVisible(std::span<const SequenceNumber> seqs,
                                                   SequenceNumber snapshot,
                                                   const TimestampLimit& limit) const {
  const bool timed = comparator_.timestamp_size() != 0;
  if (!timed && !seqs.empty() && seqs.front() <= snapshot) [[likely]]
    return seqs.front();
  auto it = std::lower_bound(seqs.begin(), seqs.end(), snapshot, std::greater<>());
  if (timed) {
    if (limit.timestamp.empty()) return 0;
    it = std::find_if(it, seqs.end(), [&](SequenceNumber seq) {
      const int order = comparator_.CompareTimestamp(timestamp(seq), limit.timestamp);
      return limit.inclusive ? order <= 0 : order < 0;
    });
  }
  return it == seqs.end() ? 0 : *it;
}

SequenceNumber FragmentedTombstones::MaxCoveringSeq(const Slice& key, SequenceNumber snapshot,
                                                    const TimestampLimit& limit) const {
  const size_t index = LowerBound(key);
  if (index == fragments_.size()) return 0;
  const Fragment found = fragment(index);
  if (comparator_.CompareKey(found.start, key) > 0) return 0;
  return NewestVisible(found.seqs, snapshot, limit);
}

std::shared_ptr<const FragmentedTombstones> FragmentedTombstones::Clip(
    std::shared_ptr<const FragmentedTombstones> whole, const Slice* lower, const Slice* upper) {
  if (whole->empty()) return whole;
  const InternalKeyComparator& comparator = whole->comparator_;
  const auto before = [&](const Slice& a, const Slice& b) {
    return comparator.CompareKey(a, b) < 0;
  };
  const bool cuts_front = lower != nullptr && before(whole->fragment(0).start, *lower);
  const bool cuts_back = upper != nullptr && before(*upper, whole->fragment(whole->size() - 1).end);
  if (!cuts_front && !cuts_back) return whole;

  std::shared_ptr<FragmentedTombstones> result(new FragmentedTombstones(comparator));
  result->timestamps_ = whole->timestamps_;
  for (size_t i = cuts_front ? whole->LowerBound(*lower) : 0; i < whole->size(); i++) {
    Fragment part = whole->fragment(i);
    if (cuts_front && before(part.start, *lower)) part.start = *lower;
    if (cuts_back && before(*upper, part.end)) part.end = *upper;
    if (!before(part.start, part.end)) break;
    result->Append(part.start, part.end, part.seqs);
  }
  return result;
}

void TombstoneSet::Add(std::shared_ptr<const FragmentedTombstones> tombstones, const Slice* lower,
                       const Slice* upper) {
  if (tombstones == nullptr) return;
  std::shared_ptr<const FragmentedTombstones> clipped =
      FragmentedTombstones::Clip(std::move(tombstones), lower, upper);
  if (clipped->empty()) return;
  lists_.push_back(std::move(clipped));
  positions_.push_back(0);
  cache_valid_ = false;
  if (lists_.size() > kMaxLists) MergeSmallLists();
}

void TombstoneSet::Clear() {
  lists_.clear();
  positions_.clear();
  covering_.clear();
  cache_valid_ = false;
  has_low_ = false;
  has_high_ = false;
}

void TombstoneSet::SetTimestampLimit(const TimestampLimit& limit) {
  limit_timestamp_.assign(limit.timestamp.data(), limit.timestamp.size());
  limit_ = {limit_timestamp_, limit.inclusive};
}

// Merges the smaller half, so that each tombstone is merged O(log n) times altogether.
void TombstoneSet::MergeSmallLists() {
  std::sort(lists_.begin(), lists_.end(), [](const auto& a, const auto& b) {
    return a->tombstone_count() > b->tombstone_count();
  });
  std::vector<RangeTombstone> merged;
  while (lists_.size() > kMaxLists / 2) {
    const FragmentedTombstones& list = *lists_.back();
    for (size_t i = 0; i < list.size(); i++) {
      const FragmentedTombstones::Fragment part = list.fragment(i);
      for (const SequenceNumber seq : part.seqs) {
        merged.push_back(
            {part.start.ToString(), part.end.ToString(), seq, list.timestamp(seq).ToString()});
      }
    }
    lists_.pop_back();
  }
  lists_.push_back(FragmentedTombstones::Build(merged, comparator_));
  positions_.assign(lists_.size(), 0);
}

bool TombstoneSet::InCachedInterval(const Slice& key) const {
  return cache_valid_ && (!has_high_ || comparator_.CompareKey(key, high_) < 0) &&
         (!has_low_ || comparator_.CompareKey(key, low_) >= 0);
}

SequenceNumber TombstoneSet::Lookup(const Slice& key, SequenceNumber snapshot) {
  if (!InCachedInterval(key)) MoveTo(key);
  SequenceNumber newest = 0;
  for (const Covering& covering : covering_) {
    newest = std::max(newest, covering.list->NewestVisible(covering.seqs, snapshot, limit_));
  }
  return newest;
}

void TombstoneSet::MoveTo(const Slice& key) {
  covering_.clear();
  has_low_ = false;
  has_high_ = false;
  for (size_t i = 0; i < lists_.size(); i++) {
    const FragmentedTombstones& list = *lists_[i];
    const size_t position = Reposition(list, positions_[i], key);
    positions_[i] = position;
    if (position < list.size()) {
      const FragmentedTombstones::Fragment next = list.fragment(position);
      if (comparator_.CompareKey(next.start, key) <= 0) {
        covering_.push_back({&list, next.seqs});
        RaiseLow(next.start);
        LowerHigh(next.end);
        continue;
      }
      LowerHigh(next.start);
    }
    if (position > 0) RaiseLow(list.fragment(position - 1).end);
  }
  cache_valid_ = true;
}

size_t TombstoneSet::Reposition(const FragmentedTombstones& list, size_t position,
                                const Slice& key) const {
  const auto ends_after_key = [&](size_t index) {
    return comparator_.CompareKey(list.fragment(index).end, key) > 0;
  };
  if (position < list.size() && !ends_after_key(position)) {
    if (position + 1 == list.size() || ends_after_key(position + 1)) return position + 1;
    return list.LowerBound(key);
  }
  if (position == 0 || !ends_after_key(position - 1)) return position;
  if (position == 1 || !ends_after_key(position - 2)) return position - 1;
  return list.LowerBound(key);
}

void TombstoneSet::RaiseLow(const Slice& boundary) {
  if (has_low_ && comparator_.CompareKey(boundary, low_) <= 0) return;
  low_ = boundary;
  has_low_ = true;
}

void TombstoneSet::LowerHigh(const Slice& boundary) {
  if (has_high_ && comparator_.CompareKey(boundary, high_) >= 0) return;
  high_ = boundary;
  has_high_ = true;
}

}  // namespace varve
