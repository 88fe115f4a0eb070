// SPDX-License-Identifier: Apache-2.0

// Looks up and checks rows of a PlainTable. The format has neither checksums nor a restart
// structure, so every row is parsed with its bounds checked, and a row that does not fit is
// Corruption with its offset.

#include "table/plain/plain_table_reader.h"

#include <algorithm>
#include <utility>

#include "table/plain/plain_table_iterator.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/mem/prefetch.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Bytes of one read of a walk over all rows.
constexpr size_t kScanBytes = 1 << 20;

// Gives no share in the memory of a value, so that the lookup copies what it keeps: the bytes go
// with the reader, whose file is mapped, or with the buffer of one call.
class CopiedValue final : public ValuePin {
 public:
  Cleanable* Renew() override { return nullptr; }
};

// Returns how the file is read for a call with these options; `activity` is what the read counts as
// unless they name it.
IOOptions ReadingOptions(const ReadOptions& options, Env::IOActivity activity) {
  IOOptions io;
  io.timeout = options.io_timeout;
  io.rate_limiter_priority = options.rate_limiter_priority;
  io.io_activity =
      options.io_activity != Env::IOActivity::kUnknown ? options.io_activity : activity;
  return io;
}

}  // namespace

Status MalformedPlainRow(const PlainTableParts& parts, const char* problem, uint64_t offset) {
  return Status::Corruption(std::string(problem) + ": row at offset " + std::to_string(offset),
                            parts.name);
}

Status PlainTableReader::Malformed(const char* problem, uint64_t offset) const {
  return MalformedPlainRow(*parts_, problem, offset);
}

// Spans of a table that is not mapped are never cached, so a caller that may use the cache alone
// gets Incomplete.
Status PlainTableReader::ReadRows(const ReadOptions& options, Env::IOActivity activity,
                                  uint64_t begin, uint64_t end, std::string* buffer,
                                  Slice* rows) const {
  VARVE_ASSERT(begin <= end && end <= parts_->data_end);
  const size_t n = static_cast<size_t>(end - begin);
  if (!parts_->mapped.empty()) {
    *rows = Slice(parts_->mapped.data() + begin, n);
    return Status::OK();
  }
  if (options.read_tier == kBlockCacheTier) {
    return Status::Incomplete("PlainTable is read from the file, not from a cache", parts_->name);
  }
  IOOptions io = ReadingOptions(options, activity);
  if (options.deadline.count() != 0) {
    VARVE_RETURN_IF_ERROR(parts_->file->LimitTime(options.deadline, &io));
  }
  buffer->resize(n);
  AddPerfCount<&PerfContext::block_read_count>();
  AddPerfCount<&PerfContext::block_read_byte>(n);
  return parts_->file->Read(begin, n, rows, buffer->data(), io);
}

void PlainTableReader::CountFilter(bool may_match) const {
  if (!parts_->filters) return;
  if (may_match) {
    AddPerfCount<&PerfContext::bloom_sst_hit_count>();
    RecordTick(parts_->statistics, BLOOM_FILTER_FULL_POSITIVE);
  } else {
    AddPerfCount<&PerfContext::bloom_sst_miss_count>();
    RecordTick(parts_->statistics, BLOOM_FILTER_USEFUL);
  }
}

// The map, or else the filter, says "no" for most keys that are not there, without a read. An error
// makes the lookup fail, too.
Status PlainTableReader::Get(const ReadOptions& options, PointLookup* lookup,
                             const TableHint& /*hint*/) const {
  bool may_match = true;
  bool matched = false;
  Status s;
  if (parts_->keys.built()) {
    s = SearchByHash(options, lookup, &may_match, &matched);
  } else {
    may_match = !HasFilter() || MatchesFilter(*lookup);
    if (may_match) s = Search(options, lookup, &matched);
  }
  CountFilter(may_match);
  if (!s.ok()) [[unlikely]] {
    lookup->Fail(s);
    return s;
  }
  if (matched && parts_->filters) {
    RecordTick(parts_->statistics, BLOOM_FILTER_FULL_TRUE_POSITIVE);
  }
  return s;
}

Status PlainTableReader::SearchByHash(const ReadOptions& options, PointLookup* lookup,
                                      bool* may_match, bool* matched) const {
  Status s;
  *may_match = false;
  parts_->keys.Find(lookup->hash(), [&](uint32_t offset) {
    *may_match = true;
    return OfferRowsAt(options, offset, lookup, matched, &s);
  });
  return s;
}

// The row at `offset` is the newest of its key. Most look-ups see it, and all rows of the key after
// it; for others, which may have many newer versions to pass, the index leads closer to theirs.
bool PlainTableReader::OfferRowsAt(const ReadOptions& options, uint32_t offset, PointLookup* lookup,
                                   bool* matched, Status* status) const {
  const Slice rows(parts_->mapped.data() + offset, parts_->mapped.size() - offset);
  PlainRowCursor row(parts_->form, rows, offset);
  while (row.Next()) {
    // At the first row, another key has the same tag; later, the key's rows have ended.
    if (!parts_->icmp->EqualKey(row.user_key(), lookup->key())) return *matched;
    const uint64_t trailer = ShownTrailer(row.trailer());
    if (!*matched && !lookup->Sees(row.user_key(), trailer)) {
      *status = Search(options, lookup, matched);
      return true;
    }
    *matched = true;
    CopiedValue copied;
    if (lookup->Offer(trailer, row.value(), &copied)) return true;
  }
  if (row.problem() != nullptr) *status = Malformed(row.problem(), row.next_offset());
  return *matched || !status->ok();
}

// Prefetches the first lines of the key's row, which mostly hold all of it.
void PlainTableReader::PrefetchSpeculatively(const PointLookup& lookup, TableHint* /*hint*/) const {
  if (!parts_->keys.built()) return Prefetch(lookup);
  parts_->keys.Find(lookup.hash(), [this](uint32_t offset) {
    const char* const row = parts_->mapped.data() + offset;
    PrefetchLine(row);
    PrefetchLine(row + 64);
    return true;
  });
}

Status PlainTableReader::Search(const ReadOptions& options, PointLookup* lookup,
                                bool* matched) const {
  const PlainIndex& index = parts_->index;
  if (index.size() == 0) return Status::OK();
  std::string buffer;
  bool over = false;
  // The versions of a key may fill several spans.
  for (size_t i = index.Find(*parts_->icmp, lookup->internal_key()); i < index.size() && !over;
       i++) {
    Slice rows;
    VARVE_RETURN_IF_ERROR(
        ReadRows(options, Env::IOActivity::kGet, index.begin(i), index.end(i), &buffer, &rows));
    VARVE_RETURN_IF_ERROR(SearchSpan(rows, i, lookup, matched, &over));
  }
  return Status::OK();
}

// Decodes from the span's first row; a row of kPrefix cannot be entered in the middle.
Status PlainTableReader::SearchSpan(const Slice& rows, size_t span, PointLookup* lookup,
                                    bool* matched, bool* over) const {
  const PlainIndex& index = parts_->index;
  const InternalKeyComparator& icmp = *parts_->icmp;
  PlainRowCursor row(parts_->form, rows, index.begin(span), index.shared_prefix(span));
  while (row.Next()) {
    const int order = icmp.CompareUserKey(row.user_key(), lookup->key());
    if (order < 0) continue;
    *over = order > 0;
    if (*over) return Status::OK();
    const uint64_t trailer = ShownTrailer(row.trailer());
    *matched = true;
    if (!lookup->Sees(row.user_key(), trailer)) continue;
    CopiedValue copied;
    *over = lookup->Offer(trailer, row.value(), &copied);
    if (*over) return Status::OK();
  }
  return row.problem() == nullptr ? Status::OK() : Malformed(row.problem(), row.next_offset());
}

std::unique_ptr<InternalIterator> PlainTableReader::NewIterator(
    const ReadOptions& options, const TableIterOptions& iter) const {
  return std::make_unique<PlainTableIterator>(this, options, iter);
}

uint64_t PlainTableReader::ApproximateOffsetOf(const ReadOptions& /*options*/,
                                               const Slice& internal_key) const {
  const PlainIndex& index = parts_->index;
  if (index.size() == 0) return parts_->data_end;
  const size_t i = index.Find(*parts_->icmp, internal_key);
  const bool in_last = i + 1 == index.size();
  // The index does not say where in a span a key is, so the span's begin is returned. The last span
  // is an exception: a key after its first one may be behind all keys, for which the end of the
  // data must be returned.
  if (in_last && parts_->icmp->Compare(index.first_key(i), internal_key) < 0) {
    return index.end(i);
  }
  return index.begin(i);
}

// Walks by PlainRowScan and not by the index, which was built from what is to be checked.
Status PlainTableReader::CheckEntries(const ReadOptions& options, const TakeEntry& take,
                                      const PaceReads& pace) const {
  PlainRowScan scan(*parts_, options);
  std::string last;
  std::string key;
  uint64_t paced = 0;
  while (scan.Next()) {
    const PlainRowCursor& row = scan.row();
    key.assign(row.user_key().data(), row.user_key().size());
    PutFixed64(&key, ShownTrailer(row.trailer()));
    if (!last.empty() && parts_->icmp->Compare(last, key) >= 0) {
      return Malformed("rows are not in order", row.row_offset());
    }
    last.swap(key);
    if (take != nullptr) VARVE_RETURN_IF_ERROR(take(last, row.value()));
    if (pace == nullptr || row.next_offset() - paced < kScanBytes) continue;
    VARVE_RETURN_IF_ERROR(pace(row.next_offset() - paced));
    paced = row.next_offset();
  }
  return scan.status();
}

Status PlainTableReader::VerifyChecksum(const ReadOptions& options, const PaceReads& pace) const {
  return CheckEntries(options, nullptr, pace);
}

// A row that has become malformed since the opening takes the rest of its span with it.
Status PlainTableReader::Salvage(const TakeEntry& take, SalvageCount* count) const {
  const PlainIndex& index = parts_->index;
  std::string buffer;
  std::string key;
  for (size_t i = 0; i < index.size(); i++) {
    Slice rows;
    Status s = ReadRows(ReadOptions(), Env::IOActivity::kUnknown, index.begin(i), index.end(i),
                        &buffer, &rows);
    PlainRowCursor row(parts_->form, rows, index.begin(i), index.shared_prefix(i));
    while (s.ok() && row.Next()) {
      key.assign(row.user_key().data(), row.user_key().size());
      PutFixed64(&key, ShownTrailer(row.trailer()));
      VARVE_RETURN_IF_ERROR(take(key, row.value()));
      count->entries++;
    }
    if (s.ok() && row.problem() != nullptr) s = Malformed(row.problem(), row.next_offset());
    if (s.ok()) {
      count->blocks++;
      continue;
    }
    if (count->lost_blocks++ == 0) count->first_error = s;
    count->lost_bytes += index.end(i) - index.begin(i);
  }
  return Status::OK();
}

size_t PlainTableReader::MemoryUsage() const {
  return sizeof(*this) + sizeof(PlainTableParts) + parts_->index.MemoryUsage() +
         parts_->keys.MemoryUsage() + parts_->filter_block.capacity() +
         parts_->properties->ApproximateMemoryUsage();
}

Status PlainTableReader::ChargeTo(std::shared_ptr<CacheCharge> charge) {
  charged_ = ChargedBytes(std::move(charge));
  const Status s = charged_.TrySet(MemoryUsage());
  return s.ok() ? s : Status::CopyAppendMessage(s, ": reader of ", parts_->name);
}

PlainRowScan::PlainRowScan(const PlainTableParts& parts, const ReadOptions& options)
    : parts_(parts),
      io_(ReadingOptions(options, Env::IOActivity::kUnknown)),
      read_bytes_(options.readahead_size != 0 ? options.readahead_size : kScanBytes),
      cursor_(parts.form, parts.mapped, 0) {
  if (!parts.mapped.empty()) read_end_ = parts.data_end;
}

// Reads more from the row on that did not fit.
bool PlainRowScan::ReadOn() {
  const uint64_t begin = cursor_.next_offset();
  // If a row of which half a read or more is there was cut off, the next read is larger: a row that
  // is larger than a read would never be whole.
  if (begin != read_end_ && read_end_ - begin >= read_bytes_ / 2) read_bytes_ *= 2;
  const size_t n = static_cast<size_t>(std::min<uint64_t>(read_bytes_, parts_.data_end - begin));
  // The cursor's current row still points into the part that was read last, which is kept.
  buffers_[0].swap(buffers_[1]);
  buffers_[0].resize(n);
  Slice bytes;
  status_ = parts_.file->Read(begin, n, &bytes, buffers_[0].data(), io_);
  if (!status_.ok()) return false;
  read_end_ = begin + n;
  cursor_.Continue(bytes);
  return true;
}

// The cursor stops at the end of what was read, often within a row. That row is tried again with
// more of the file; only at the end of all rows is it malformed.
bool PlainRowScan::Next() {
  while (status_.ok()) {
    if (cursor_.Next()) return true;
    const bool malformed = cursor_.problem() != nullptr && !cursor_.cut_off();
    if (read_end_ < parts_.data_end && !malformed) {
      if (!ReadOn()) return false;
      continue;
    }
    if (cursor_.problem() != nullptr) {
      status_ = MalformedPlainRow(parts_, cursor_.problem(), cursor_.next_offset());
    }
    return false;
  }
  return false;
}

}  // namespace varve
