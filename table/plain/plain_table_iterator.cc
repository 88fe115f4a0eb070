// SPDX-License-Identifier: Apache-2.0

// Decodes a span of rows at a time, from one indexed row to the next, and reads several spans at
// once: reads grow while a walk goes on, so that a short one reads little and a long one seldom.

#include "table/plain/plain_table_iterator.h"

#include <algorithm>

#include "util/base/status_macros.h"

namespace varve {

namespace {

constexpr size_t kReadBytesMin = 4 * 1024;
constexpr size_t kReadBytesMax = 256 * 1024;
constexpr size_t kCompactionReadBytes = 1 << 20;

}  // namespace

PlainTableIterator::PlainTableIterator(const PlainTableReader* table, const ReadOptions& options,
                                       const TableIterOptions& iter)
    : table_(table),
      options_(options),
      activity_(iter.for_compaction ? Env::IOActivity::kCompaction : Env::IOActivity::kDBIterator),
      bytes_visited_(iter.bytes_visited),
      read_bytes_max_(std::max(options.readahead_size,
                               iter.for_compaction ? kCompactionReadBytes : kReadBytesMax)),
      read_bytes_(iter.for_compaction ? read_bytes_max_
                                      : std::max(options.readahead_size, kReadBytesMin)) {}

bool PlainTableIterator::Fail(const Status& status) {
  status_ = status;
  valid_ = false;
  loaded_ = false;
  return false;
}

// Reads whole spans only, as a row can be decoded from the start of a span alone. The window grows
// to the side where the walk goes, and a walk that turns round reads anew.
Status PlainTableIterator::Fetch(size_t span, Direction direction, Slice* rows) {
  const PlainIndex& index = table_->parts().index;
  const uint64_t begin = index.begin(span);
  const uint64_t end = index.end(span);
  const size_t n = static_cast<size_t>(end - begin);
  if (!table_->parts().mapped.empty()) {
    return table_->ReadRows(options_, activity_, begin, end, &window_, rows);
  }
  if (begin < window_begin_ || end > window_end_) {
    uint64_t read_begin = begin;
    uint64_t read_end = end;
    if (direction == Direction::kForward) {
      for (size_t i = span + 1; i < index.size() && index.end(i) - begin <= read_bytes_; i++) {
        read_end = index.end(i);
      }
    } else {
      for (size_t i = span; i > 0 && end - index.begin(i - 1) <= read_bytes_; i--) {
        read_begin = index.begin(i - 1);
      }
    }
    // The buffer is about to be overwritten: after an error it holds no span.
    window_begin_ = window_end_ = 0;
    Slice bytes;
    VARVE_RETURN_IF_ERROR(
        table_->ReadRows(options_, activity_, read_begin, read_end, &window_, &bytes));
    // A file system may answer with memory of its own.
    if (bytes.data() != window_.data()) window_.assign(bytes.data(), bytes.size());
    window_begin_ = read_begin;
    window_end_ = read_end;
    read_bytes_ = std::min(read_bytes_ * 2, read_bytes_max_);
  }
  *rows = Slice(window_.data() + (begin - window_begin_), n);
  return Status::OK();
}

// Rows keep slices of the window and of the mapping, and places in shared_keys_ instead of slices,
// because that string moves while it grows.
bool PlainTableIterator::Load(size_t span, Direction direction) {
  if (loaded_ && span == span_) return true;
  const PlainTableParts& parts = table_->parts();
  Slice bytes;
  if (const Status s = Fetch(span, direction, &bytes); !s.ok()) return Fail(s);
  const Slice shared = parts.index.shared_prefix(span);
  shared_keys_.assign(shared.data(), shared.size());
  size_t shared_at = 0;
  rows_.clear();
  PlainRowCursor row(parts.form, bytes, parts.index.begin(span), shared);
  while (row.Next()) {
    const Slice part = row.shared_part();
    // A full key begins a group; the group's later rows have only places in this one's copy.
    const bool begins_group = part.empty() && parts.form.encoding == kPrefix;
    rows_.push_back({shared_at, part.size(), row.stored_part(), table_->ShownTrailer(row.trailer()),
                     row.value()});
    if (!begins_group) continue;
    shared_at = shared_keys_.size();
    shared_keys_.append(row.user_key().data(), row.user_key().size());
  }
  if (row.problem() != nullptr) return Fail(table_->Malformed(row.problem(), row.next_offset()));
  // The file has changed if a span has no row now.
  if (rows_.empty()) return Fail(table_->Malformed("a span without rows", row.next_offset()));
  if (bytes_visited_ != nullptr) *bytes_visited_ += bytes.size();
  span_ = span;
  loaded_ = true;
  return true;
}

void PlainTableIterator::AppendKey(const Row& row, std::string* key) const {
  key->append(shared_keys_, row.shared_at, row.shared_bytes);
  key->append(row.stored.data(), row.stored.size());
  PutFixed64(key, row.trailer);
}

void PlainTableIterator::Publish() {
  VARVE_ASSERT(loaded_ && pos_ < rows_.size());
  current_key_.clear();
  AppendKey(rows_[pos_], &current_key_);
  key_ = current_key_;
  value_ = rows_[pos_].value;
  valid_ = true;
}

void PlainTableIterator::SeekToFirst() {
  status_ = Status::OK();
  valid_ = false;
  pos_ = 0;
  if (table_->parts().index.size() == 0 || !Load(0, Direction::kForward)) return;
  Publish();
}

void PlainTableIterator::SeekToLast() {
  status_ = Status::OK();
  valid_ = false;
  const size_t spans = table_->parts().index.size();
  if (spans == 0 || !Load(spans - 1, Direction::kBackward)) return;
  pos_ = rows_.size() - 1;
  Publish();
}

// Loads the span that the index leads to, and searches its rows by halves.
void PlainTableIterator::Seek(const Slice& target) {
  status_ = Status::OK();
  valid_ = false;
  const PlainTableParts& parts = table_->parts();
  if (parts.index.size() == 0) return;
  // The index has the stored sequence numbers. The rows of an ingested file show another one, so
  // that the next span may begin with a row before the target, too.
  for (size_t span = parts.index.Find(*parts.icmp, target); span < parts.index.size(); span++) {
    if (!Load(span, Direction::kForward)) return;
    const auto found = std::partition_point(rows_.begin(), rows_.end(), [&](const Row& row) {
      probed_key_.clear();
      AppendKey(row, &probed_key_);
      return parts.icmp->Compare(probed_key_, target) < 0;
    });
    pos_ = static_cast<size_t>(found - rows_.begin());
    if (pos_ < rows_.size()) return Publish();
  }
}

void PlainTableIterator::SeekForPrev(const Slice& target) {
  Seek(target);
  if (!status_.ok()) return;
  if (!valid_) {
    SeekToLast();
  } else if (table_->parts().icmp->Compare(key_, target) > 0) {
    Prev();
  }
}

void PlainTableIterator::Next() {
  VARVE_ASSERT(valid_);
  if (++pos_ == rows_.size()) {
    valid_ = false;
    if (span_ + 1 == table_->parts().index.size()) return;
    if (!Load(span_ + 1, Direction::kForward)) return;
    pos_ = 0;
  }
  Publish();
}

void PlainTableIterator::Prev() {
  VARVE_ASSERT(valid_);
  if (pos_ == 0) {
    valid_ = false;
    if (span_ == 0 || !Load(span_ - 1, Direction::kBackward)) return;
    pos_ = rows_.size();
  }
  pos_--;
  Publish();
}

// A batch ends with the span at the latest, as its values lie in the bytes of the span. The current
// entry afterwards is the batch's last one, whose key lies in batch_keys_.
size_t PlainTableIterator::NextBatch(BatchEntry* out, size_t max) {
  Next();
  if (!valid_) return 0;
  const size_t n = std::min(max, rows_.size() - pos_);
  size_t key_bytes = 0;
  for (size_t i = 0; i < n; i++) {
    const Row& row = rows_[pos_ + i];
    key_bytes += row.shared_bytes + row.stored.size() + kInternalKeyTrailerBytes;
  }
  batch_keys_.clear();
  batch_keys_.reserve(key_bytes);  // Earlier keys must not move.
  for (size_t i = 0; i < n; i++) {
    const size_t begin = batch_keys_.size();
    AppendKey(rows_[pos_ + i], &batch_keys_);
    out[i].Set(Slice(batch_keys_.data() + begin, batch_keys_.size() - begin),
               rows_[pos_ + i].value);
  }
  pos_ += n - 1;
  PublishLast(out[n - 1]);
  return n;
}

}  // namespace varve
