// SPDX-License-Identifier: Apache-2.0

// Reads whole tables whose description is lost or not trusted. Every entry is checked for form and
// order, and bounds, sequence numbers and references to blob files are computed. All reads bypass
// the caches, so that damaged blocks do not reach other readers.

#include "db/recovery/table_survey.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "db/blob/blob_file_format.h"
#include "db/blob/blob_reference.h"
#include "db/version/comparator_change.h"
#include "table/format/unique_id.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/random_access_file_reader.h"

namespace varve {

namespace {

// Opens a table. With `known`, it must be the table that the MANIFEST describes.
Status OpenTable(const TableSurveyContext& context, const std::string& path, const NewFile* known,
                 uint64_t* file_bytes, std::unique_ptr<TableReader>* reader) {
  VARVE_RETURN_IF_ERROR(context.fs->GetFileSize(path, IOOptions(), file_bytes, nullptr));
  std::unique_ptr<RandomAccessFileReader> file;
  VARVE_RETURN_IF_ERROR(RandomAccessFileReader::Open(context.fs, path, FileOptions(),
                                                     RandomAccessFileReader::Options(), &file));
  TableOpenOptions open;
  open.icmp = context.icmp;
  open.factory = context.options->table_factory;
  // Bypasses every cache, so that blocks of a suspect table do not reach other readers.
  open.past_cache = true;
  open.file_name = path;
  uint64_t size = *file_bytes;
  if (known != nullptr) {
    open.largest_seq = known->largest_seq;
    open.expected_unique_id = known->unique_id;
    open.timestamps_persisted = known->timestamps_persisted;
    size = std::min(size, known->size);  // Bytes may have been appended to the file.
  }
  return TableReader::Open(open, std::move(file), size, reader);
}

// Collects the references of a table's entries to blob files. The MANIFEST stores them for each
// table, and garbage is computed from them.
class EntryReferences {
 public:
  // Takes an entry with this internal key.
  void Take(const Slice& key, const Slice& value) {
    if (ExtractValueType(key) != kTypeBlobIndex) return;
    BlobReference reference;
    if (!BlobReference::DecodeInDatabase(value, &reference).ok()) return;  // Readers report it.
    BlobShare& share = shares_[reference.file_number];
    share.file = reference.file_number;
    share.count++;
    share.bytes += BlobRecordBytes(key.size() - kInternalKeyTrailerBytes, reference.size);
    codecs_.emplace(reference.file_number, reference.compression);
  }
  void Fill(TableFinding* finding) const {
    NewFile& file = finding->file;
    file.blob_shares.clear();
    for (const auto& [number, share] : shares_) file.blob_shares.push_back(share);
    file.oldest_blob_file_number = shares_.empty() ? 0 : shares_.begin()->first;
    finding->blob_codecs = codecs_;
  }

 private:
  std::map<uint64_t, BlobShare> shares_;
  std::map<uint64_t, CompressionType> codecs_;
};

// Collects bounds and sequence numbers, and checks the order of entries.
class EntryRange {
 public:
  explicit EntryRange(const InternalKeyComparator* icmp) : icmp_(icmp) {}

  // Takes the next entry's internal key. Corruption: it is too short, or out of order.
  Status Take(const Slice& key) {
    if (key.size() < kInternalKeyTrailerBytes + icmp_->timestamp_size()) {
      return Status::Corruption("a key is too short");
    }
    // Searches would not find all entries of a table that is out of order, so it cannot be used.
    if (!last_.empty() && icmp_->Compare(last_, key) >= 0) {
      return Status::Corruption("entries are out of order");
    }
    if (first_.empty()) first_ = key.ToString();
    last_.assign(key.data(), key.size());
    NoteSequence(ExtractSequence(key));
    return Status::OK();
  }

  // Extends the bounds to range tombstones, as reads of keys that only they cover must consult the
  // table. The exclusive end of the last one is expressed by the largest sequence number, which
  // sorts before every entry of that key.
  void TakeTombstones(const FragmentedTombstones& tombstones) {
    if (tombstones.empty()) return;
    const auto first = tombstones.fragment(0);
    NoteSequence(tombstones.max_seq());
    NoteSequence(tombstones.min_seq());
    const InternalKey begin(icmp_->FirstUserKey(first.start), first.newest, kTypeRangeDeletion);
    const InternalKey end(icmp_->FirstUserKey(tombstones.bound(tombstones.size())),
                          kMaxSequenceNumber, kTypeRangeDeletion);
    if (first_.empty() || icmp_->Compare(begin.Encode(), first_) < 0) {
      first_ = begin.Encode().ToString();
    }
    if (last_.empty() || icmp_->Compare(end.Encode(), last_) > 0) last_ = end.Encode().ToString();
  }

  // Sets the bounds of point entries. Must be called before TakeTombstones.
  void FillPoints(TableFinding* finding) const {
    if (first_.empty()) return;
    const bool sound =
        finding->first_point.DecodeFrom(first_) && finding->last_point.DecodeFrom(last_);
    VARVE_ASSERT(sound);
  }

  bool Fill(NewFile* file) const {
    VARVE_ASSERT(first_.empty() || smallest_seq_ <= largest_seq_);
    file->smallest_seq = smallest_seq_;
    file->largest_seq = largest_seq_;
    return !first_.empty() && file->smallest.DecodeFrom(first_) && file->largest.DecodeFrom(last_);
  }

 private:
  void NoteSequence(SequenceNumber seq) {
    smallest_seq_ = std::min(smallest_seq_, seq);
    largest_seq_ = std::max(largest_seq_, seq);
  }

  const InternalKeyComparator* const icmp_;
  std::string first_;
  std::string last_;
  SequenceNumber smallest_seq_ = kMaxSequenceNumber;
  SequenceNumber largest_seq_ = 0;
};

// Sets the parts of *finding that the properties have.
void DescribeByProperties(const TableProperties& properties, TableFinding* finding) {
  finding->family_name = properties.column_family_name;
  finding->family_id = properties.column_family_id;
  finding->comparator_name = properties.comparator_name;
  NewFile& file = finding->file;
  file.number = finding->number;
  file.size = finding->file_bytes;
  file.times.oldest_ancestor = properties.creation_time;
  file.times.created = properties.file_creation_time;
  file.timestamps_persisted = properties.user_defined_timestamps_persisted != 0;
  file.counts = CountsOf(properties);
  if (properties.tail_start_offset != 0 && properties.tail_start_offset < file.size) {
    file.tail_size = file.size - properties.tail_start_offset;
  }
  file.unique_id =
      TableUniqueId(properties.db_id, properties.db_session_id, properties.orig_file_number);
}

// Checks a readable table against the results of reading it.
Status Judge(const TableReader& table, const NewFile* known, TableFinding* finding) {
  const TableProperties& properties = *table.properties();
  if (finding->count.lost_blocks > 0) return finding->count.first_error;
  VARVE_RETURN_IF_ERROR(table.VerifyChecksum(ReadOptions()));
  const uint64_t points = properties.num_entries - properties.num_range_deletions;
  // Tables that are older than the property num_range_deletions count tombstones among the entries,
  // and do not say how many there are.
  const bool counted = properties.num_range_deletions != 0 || table.tombstones() == nullptr ||
                       table.tombstones()->empty();
  if (properties.num_entries != 0 && counted && points != finding->count.entries) {
    return Status::Corruption("the properties count " + std::to_string(points) +
                                  " entries, but there are " +
                                  std::to_string(finding->count.entries),
                              finding->path);
  }
  if (known != nullptr && known->size != finding->file_bytes) {
    return Status::Corruption("the file has " + std::to_string(finding->file_bytes) +
                                  " bytes instead of " + std::to_string(known->size),
                              finding->path);
  }
  return Status::OK();
}

void AddAll(const FragmentedTombstones& tombstones, TableOutput* out) {
  for (const FragmentedTombstones::Tombstone& t : tombstones.InKeyOrder()) {
    out->AddTombstone(t.start, t.end, t.seq, t.timestamp);
  }
}

// Limits the bounds of the copy to those of the damaged table, within which its range tombstones
// act. The MANIFEST has the bounds of a table without timestamps without them, too, so they are
// adapted first.
void KeepWithin(const NewFile& known, const InternalKeyComparator& icmp, NewFile* copy) {
  VersionEdit edit;
  edit.new_files.push_back(known);
  // Bounds that are too short for a timestamp are ignored.
  if (!AdaptFiles(TimestampSwitch::kSame, icmp, &edit).ok()) return;
  const NewFile& within = edit.new_files.front();
  if (icmp.Compare(copy->smallest.Encode(), within.smallest.Encode()) < 0) {
    copy->smallest = within.smallest;
  }
  if (icmp.Compare(copy->largest.Encode(), within.largest.Encode()) > 0) {
    copy->largest = within.largest;
  }
}

}  // namespace

Status CheckTable(const TableSurveyContext& context, const std::string& path,
                  const NewFile& known) {
  std::unique_ptr<TableReader> reader;
  uint64_t bytes = 0;
  VARVE_RETURN_IF_ERROR(context.fs->GetFileSize(path, IOOptions(), &bytes, nullptr));
  if (bytes != known.size) {
    return Status::Corruption(
        path, "has " + std::to_string(bytes) + " bytes instead of " + std::to_string(known.size));
  }
  return OpenTable(context, path, &known, &bytes, &reader);
}

Status ReadTableProperties(const TableSurveyContext& context, const std::string& path,
                           std::shared_ptr<const TableProperties>* properties) {
  uint64_t bytes = 0;
  std::unique_ptr<TableReader> reader;
  VARVE_RETURN_IF_ERROR(OpenTable(context, path, nullptr, &bytes, &reader));
  *properties = reader->properties();
  return Status::OK();
}

// The table is sound if all of it was read and agrees with its properties and the MANIFEST; damaged
// if some entries can be copied; and unreadable otherwise.
void ExamineTable(const TableSurveyContext& context, const std::string& path, uint64_t number,
                  const NewFile* known, TableFinding* finding) {
  *finding = TableFinding();
  finding->path = path;
  finding->number = number;
  std::unique_ptr<TableReader> reader;
  finding->why = OpenTable(context, path, known, &finding->file_bytes, &reader);
  if (!finding->why.ok()) return;
  DescribeByProperties(*reader->properties(), finding);
  EntryRange range(context.icmp);
  EntryReferences references;
  finding->why = reader->Salvage(
      [&](const Slice& key, const Slice& value) {
        Status s = range.Take(key);
        if (s.ok()) references.Take(key, value);
        return s;
      },
      &finding->count);
  if (!finding->why.ok()) return;
  references.Fill(finding);
  range.FillPoints(finding);
  if (reader->tombstones() != nullptr) {
    finding->has_tombstones = !reader->tombstones()->empty();
    range.TakeTombstones(*reader->tombstones());
  }
  if (!range.Fill(&finding->file)) {
    finding->why = finding->count.lost_blocks > 0
                       ? finding->count.first_error
                       : Status::Corruption("the table has no entries", path);
    return;
  }
  finding->why = Judge(*reader, known, finding);
  finding->state = finding->why.ok() ? TableFinding::State::kSound : TableFinding::State::kDamaged;
}

// Copies the readable blocks, whose order ExamineTable has checked, and skips the others. The copy
// keeps the times and the blob references of the damaged table. TableOutput deletes an unfinished
// copy.
Status CopyReadableEntries(const TableSurveyContext& context, const TableFinding& damaged,
                           const NewFile* known, const TableOutputContext& output,
                           const TableBuildOptions& build, NewFile* copy) {
  VARVE_ASSERT(damaged.state == TableFinding::State::kDamaged);
  uint64_t bytes = 0;
  std::unique_ptr<TableReader> reader;
  VARVE_RETURN_IF_ERROR(OpenTable(context, damaged.path, known, &bytes, &reader));
  TableBuildOptions options = build;
  options.icmp = context.icmp;
  options.persist_timestamps = damaged.file.timestamps_persisted;
  options.creation_time = damaged.file.times.oldest_ancestor;
  options.file_creation_time = damaged.file.times.created;
  std::unique_ptr<TableOutput> out;
  VARVE_RETURN_IF_ERROR(TableOutput::Create(output, options, &out));
  SalvageCount count;
  VARVE_RETURN_IF_ERROR(reader->Salvage(
      [&out](const Slice& key, const Slice& value) {
        out->Add(key, value);
        return out->builder()->status();
      },
      &count));
  if (reader->tombstones() != nullptr) AddAll(*reader->tombstones(), out.get());
  if (out->empty()) return Status::NotFound(damaged.path, "holds nothing that can be read");
  VARVE_RETURN_IF_ERROR(out->Finish(copy));
  copy->oldest_blob_file_number = damaged.file.oldest_blob_file_number;
  copy->blob_shares = damaged.file.blob_shares;
  if (known != nullptr) KeepWithin(*known, *context.icmp, copy);
  return Status::OK();
}

}  // namespace varve
