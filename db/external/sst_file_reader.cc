// SPDX-License-Identifier: Apache-2.0

// Implements SstFileReader: the read calls of a database on a super-version of one table.
//
// There is no database, so there are no blob files, and without a snapshot in ReadOptions all
// entries are visible.

#include "varve/sst_file_reader.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "varve/snapshot.h"
#include "varve/utilities/types_util.h"

#include "db/external/single_table.h"
#include "db/read/blob_read.h"
#include "db/read/db_iterator.h"
#include "db/read/get.h"
#include "db/read/merge_read.h"
#include "db/read/multi_get.h"
#include "db/read/read_timestamp.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// Stands for the name of the family in messages.
constexpr char kFamilyName[] = "of the table file";

Status NotOpen() {
  return Status::InvalidArgument("SstFileReader: no file is open");
}

// Returns the snapshot's sequence number, or the largest one, so that everything is visible without
// a snapshot.
SequenceNumber SequenceOf(const ReadOptions& options) {
  return options.snapshot != nullptr ? options.snapshot->GetSequenceNumber() : kMaxSequenceNumber;
}

// Presents the iterator of a table as a public one, with internal keys.
class RawIterator final : public Iterator {
 public:
  explicit RawIterator(std::shared_ptr<SingleTable> table) : table_(std::move(table)) {
    options_.fill_cache = false;
    source_ = table_->reader().NewIterator(options_, TableIterOptions());
  }

  bool Valid() const override { return refused_.ok() && source_->Valid(); }
  void SeekToFirst() override {
    refused_ = Status::OK();
    source_->SeekToFirst();
  }
  void SeekToLast() override {
    refused_ = Status::OK();
    source_->SeekToLast();
  }
  void Seek(const Slice& target) override {
    if (Takes(target)) source_->Seek(target);
  }
  void SeekForPrev(const Slice& target) override {
    if (Takes(target)) source_->SeekForPrev(target);
  }
  void Next() override { source_->Next(); }
  void Prev() override { source_->Prev(); }
  Slice key() const override { return source_->key(); }
  Slice value() const override { return source_->value(); }
  Status status() const override { return refused_.ok() ? source_->status() : refused_; }

 private:
  // Returns true if the target is long enough for an internal key, as comparators do not check
  // that. Otherwise sets refused_.
  bool Takes(const Slice& target) {
    refused_ = target.size() >= kInternalKeyTrailerBytes + table_->icmp().timestamp_size()
                   ? Status::OK()
                   : Status::InvalidArgument(
                         "SstFileReader: the target of a raw iterator is no internal key");
    return refused_.ok();
  }

  const std::shared_ptr<SingleTable> table_;
  ReadOptions options_;
  Status refused_;
  std::unique_ptr<InternalIterator> source_;
};

}  // namespace

struct SstFileReader::Rep {
  explicit Rep(const Options& given) : options(given) {}

  // Returns an error if no file is open, or if the timestamp of the options does not fit the table.
  Status Check(const ReadOptions& read_options) const {
    if (table == nullptr) return NotOpen();
    return CheckReadTimestamp(read_options, table->super_version(), kFamilyName);
  }
  void MultiGet(const ReadOptions& read_options, const std::vector<Slice>& keys,
                PinnableSlice* values, Status* statuses) const;
  // Returns the status with the file's name, which errors of references to blob files lack.
  Status OfTable(const Status& s) const {
    const bool may_lack = s.IsNotSupported() || s.IsCorruption();
    if (!may_lack || s.ToString().find(table->path()) != std::string::npos) return s;
    return Status::CopyAppendMessage(s, "; table ", table->path());
  }

  const Options options;
  std::shared_ptr<SingleTable> table;  // null: no file is open
};

void SstFileReader::Rep::MultiGet(const ReadOptions& read_options, const std::vector<Slice>& keys,
                                  PinnableSlice* values, Status* statuses) const try {
  if (const Status s = Check(read_options); !s.ok()) {
    std::fill_n(statuses, keys.size(), s);
    return;
  }
  MultiGetCall call{.options = read_options,
                    .keys = keys.data(),
                    .values = values,
                    .statuses = statuses,
                    .statistics = options.statistics.get(),
                    .clock = table->clock(),
                    .skip_memtables = true};
  std::vector<uint32_t> places(keys.size());
  std::iota(places.begin(), places.end(), uint32_t{0});
  MultiGetFromSuperVersion(&call, table->super_version(), SequenceOf(read_options), places);
  std::transform(statuses, statuses + keys.size(), statuses,
                 [this](const Status& s) { return OfTable(s); });
} catch (...) {
  std::fill_n(statuses, keys.size(), CaughtException());
}

SstFileReader::SstFileReader(const Options& options) : rep_(std::make_unique<Rep>(options)) {}

SstFileReader::~SstFileReader() = default;

Status SstFileReader::Open(const std::string& file_path) try {
  if (rep_->table != nullptr) {
    return Status::InvalidArgument("SstFileReader::Open: a file is open already", file_path);
  }
  return SingleTable::Open(rep_->options, file_path, &rep_->table);
} catch (...) {
  return CaughtException();
}

Iterator* SstFileReader::NewIterator(const ReadOptions& options) try {
  if (const Status s = rep_->Check(options); !s.ok()) return NewErrorIterator(s);
  return NewDbIterator(options, rep_->table, rep_->table->AcquireSuperVersion(),
                       SequenceOf(options), rep_->options.statistics.get());
} catch (...) {
  return NewErrorIterator(CaughtException());
}

Status SstFileReader::Get(const ReadOptions& options, const Slice& key, std::string* value) try {
  if (value == nullptr) return Status::InvalidArgument("get: the place for the value is null");
  PinnableSlice found(value);
  VARVE_RETURN_IF_ERROR(Get(options, key, &found));
  if (found.IsPinned()) value->assign(found.data(), found.size());
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status SstFileReader::Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) try {
  if (value == nullptr) return Status::InvalidArgument("get: the place for the value is null");
  value->Reset();
  VARVE_RETURN_IF_ERROR(rep_->Check(options));
  const SuperVersion& super_version = rep_->table->super_version();
  Statistics* const statistics = rep_->options.statistics.get();
  PointLookup lookup(key, SequenceOf(options), value, &super_version.merger(),
                     AsOf(options, super_version));
  VARVE_RETURN_IF_ERROR(GetFromSuperVersion(options, super_version, &lookup, statistics,
                                            /*skip_memtables=*/true));
  if (lookup.state() == PointLookup::State::kFound) return Status::OK();
  if (lookup.state() == PointLookup::State::kReference) {
    // The value is in a blob file of the table's database, which cannot be read here: this returns
    // the error.
    const Status s = ReadReference(options, super_version, lookup, value);
    value->Reset();
    return rep_->OfTable(s);
  }
  if (lookup.operands() == nullptr) return Status::NotFound();
  return rep_->OfTable(MergeForRead(options, super_version, &lookup, value, statistics));
} catch (...) {
  return CaughtException();
}

std::vector<Status> SstFileReader::MultiGet(const ReadOptions& options,
                                            const std::vector<Slice>& keys,
                                            std::vector<std::string>* values) {
  std::vector<PinnableSlice> found;
  std::vector<Status> statuses = MultiGet(options, keys, &found);
  if (values == nullptr) return statuses;
  values->assign(keys.size(), std::string());
  for (size_t i = 0; i < keys.size(); i++) {
    if (statuses[i].ok()) (*values)[i].assign(found[i].data(), found[i].size());
  }
  return statuses;
}

std::vector<Status> SstFileReader::MultiGet(const ReadOptions& options,
                                            const std::vector<Slice>& keys,
                                            std::vector<PinnableSlice>* values) {
  std::vector<Status> statuses(keys.size());
  if (values == nullptr) {
    std::fill(statuses.begin(), statuses.end(),
              Status::InvalidArgument("MultiGet: the place for the values is null"));
    return statuses;
  }
  *values = std::vector<PinnableSlice>(keys.size());
  rep_->MultiGet(options, keys, values->data(), statuses.data());
  return statuses;
}

void SstFileReader::MayMatch(const ReadOptions& options, const Slice* keys, size_t num_keys,
                             bool* results) try {
  std::fill_n(results, num_keys, true);
  if (rep_->table == nullptr) return;
  const InternalKeyComparator& icmp = rep_->table->icmp();
  // Filters have keys without timestamps, but the lookup needs a timestamp of the right size: the
  // largest one.
  const std::string newest = icmp.FirstUserKey("");
  const ReadTimestamp as_of =
      newest.empty() ? ReadTimestamp() : ReadTimestamp{&icmp, Slice(newest)};
  for (size_t i = 0; i < num_keys; i++) {
    const PointLookup lookup(keys[i], kMaxSequenceNumber, nullptr, nullptr, as_of);
    results[i] = rep_->table->reader().KeyMayMatch(options, lookup);
  }
} catch (...) {
  std::fill_n(results, num_keys, true);  // Any key may match.
}

std::unique_ptr<Iterator> SstFileReader::NewTableIterator() {
  if (rep_->table == nullptr) return nullptr;
  return std::make_unique<RawIterator>(rep_->table);
}

Status SstFileReader::ParseTableIteratorKey(const Slice& raw_table_key,
                                            ParsedEntryInfo* parsed_key) const {
  if (rep_->table == nullptr) return NotOpen();
  return ParseEntry(raw_table_key, rep_->table->icmp().user_comparator(), parsed_key);
}

std::shared_ptr<const TableProperties> SstFileReader::GetTableProperties() const {
  return rep_->table == nullptr ? nullptr : rep_->table->reader().properties();
}

Status SstFileReader::VerifyChecksum(const ReadOptions& options) try {
  if (rep_->table == nullptr) return NotOpen();
  return rep_->table->reader().VerifyChecksum(options);
} catch (...) {
  return CaughtException();
}

Status SstFileReader::VerifyNumEntries(const ReadOptions& options) try {
  if (rep_->table == nullptr) return NotOpen();
  uint64_t points = 0;
  const auto count = [&](const Slice&, const Slice&) {
    points++;
    return Status::OK();
  };
  VARVE_RETURN_IF_ERROR(rep_->table->reader().CheckEntries(options, count, {}));
  const TableProperties& properties = *rep_->table->reader().properties();
  const uint64_t found = points + properties.num_range_deletions;
  if (found == properties.num_entries) return Status::OK();
  return Status::Corruption("the table's properties speak of " +
                            std::to_string(properties.num_entries) + " entries, and it has " +
                            std::to_string(found));
} catch (...) {
  return CaughtException();
}

}  // namespace varve
