// SPDX-License-Identifier: Apache-2.0

// An inspection opens the table with a reader of its own, which puts no block of data into the
// block cache, and goes from what costs little to what costs much: properties (comparator, writer),
// range deletions, and then either the two ends of the data or every block, checksum and entry,
// which are also counted and compared with the properties.
//
//     what is seen      rule for a program's table                     rule for a database's
//     writer            has the property of external files             does not have it
//     sequence number   0, unless the MANIFEST or the file gives one   any
//     types             those that SstFileWriter can add               any of an entry
//     user keys         each once (with every_block)                   any number of versions
//
// The bounds are those of the points, widened by the range deletions.

#include "table/inspect/inspect_table.h"

#include <algorithm>
#include <utility>

#include "varve/comparator.h"

#include "table/format/unique_id.h"
#include "util/base/status_macros.h"
#include "util/coding/fixed.h"
#include "util/env/random_access_file_reader.h"

namespace varve {

namespace {

constexpr char kVersionProperty[] = "rocksdb.external_sst_file.version";
constexpr char kSequenceProperty[] = "rocksdb.external_sst_file.global_seqno";

// One call of InspectTable. Fills in *table step by step.
class Inspection {
 public:
  Inspection(const InspectOptions& options, InspectedTable* table)
      : options_(options), table_(*table) {
    reads_.fill_cache = false;
    reads_.readahead_size = options.readahead_size;
  }

  // Properties come before everything else, because they say who wrote the table, on which later
  // checks depend. The first error ends the inspection.
  Status Run() {
    VARVE_RETURN_IF_ERROR(Open());
    VARVE_RETURN_IF_ERROR(TakeProperties());
    VARVE_RETURN_IF_ERROR(TakeTombstones());
    VARVE_RETURN_IF_ERROR(options_.every_block ? TakeEveryBlock() : TakeEnds());
    SetBounds();
    return Status::OK();
  }

 private:
  Status Open();
  Status TakeProperties();
  Status CheckWriter() const;
  Status TakeTombstones();
  Status TakeEnds();
  Status TakeEveryBlock();
  Status TakePoint(const Slice& key);
  Status CheckPoint(const ParsedInternalKey& key) const;
  Status CheckCounts() const;
  void SetBounds();

  [[nodiscard]] bool by_program() const { return table_.external_version != 0; }
  [[nodiscard]] Status Corrupt(const std::string& what) const {
    return Status::Corruption(what, table_.path);
  }
  void NoteSequence(SequenceNumber seq) {
    table_.smallest_seq = std::min(table_.smallest_seq, seq);
    table_.largest_seq = std::max(table_.largest_seq, seq);
  }

  const InspectOptions& options_;
  InspectedTable& table_;
  ReadOptions reads_;
  uint64_t deletions_ = 0;
  uint64_t operands_ = 0;
};

// Opening checks footer, metaindex, properties and index already, as for any table.
Status Inspection::Open() {
  VARVE_RETURN_IF_ERROR(
      options_.fs->GetFileSize(table_.path, IOOptions(), &table_.file_size, nullptr));
  RandomAccessFileReader::Options file_options;
  file_options.stats = options_.statistics;
  std::unique_ptr<RandomAccessFileReader> file;
  VARVE_RETURN_IF_ERROR(RandomAccessFileReader::Open(options_.fs, table_.path,
                                                     options_.file_options, file_options, &file));
  TableOpenOptions open;
  open.icmp = options_.icmp;
  open.factory = options_.factory;
  open.past_cache = options_.past_cache;
  open.prefix_extractor = options_.prefix_extractor;
  open.statistics = options_.statistics;
  open.file_name = table_.path;
  open.largest_seq = options_.largest_seq;
  open.expected_unique_id = options_.expected_unique_id;
  return TableReader::Open(open, std::move(file), table_.file_size, &table_.reader);
}

// Takes what the properties say of the table's origin, and checks that the order of its keys and
// its writer are the expected ones.
Status Inspection::TakeProperties() {
  table_.properties = table_.reader->properties();
  const TableProperties& properties = *table_.properties;
  table_.unique_id =
      TableUniqueId(properties.db_id, properties.db_session_id, properties.orig_file_number);
  table_.timestamps_persisted = properties.user_defined_timestamps_persisted != 0;
  // Opening has checked the form of these two.
  const UserCollectedProperties& others = properties.user_collected_properties;
  if (const auto it = others.find(kVersionProperty);
      it != others.end() && it->second.size() == sizeof(uint32_t)) {
    table_.external_version = DecodeFixed32(it->second.data());
  }
  if (const auto it = others.find(kSequenceProperty);
      it != others.end() && it->second.size() == sizeof(uint64_t)) {
    table_.global_seqno = DecodeFixed64(it->second.data());
  }
  const std::string order = options_.icmp->user_comparator()->Name();
  if (!properties.comparator_name.empty() && properties.comparator_name != order) {
    return Status::InvalidArgument(
        "the table's keys are ordered by " + properties.comparator_name + ", not by " + order,
        table_.path);
  }
  return CheckWriter();
}

Status Inspection::CheckWriter() const {
  switch (options_.writer) {
    case InspectOptions::Writer::kProgram:
      if (by_program()) return Status::OK();
      return Corrupt("the table has no property " + std::string(kVersionProperty) +
                     ": no SstFileWriter has made it");
    case InspectOptions::Writer::kDatabase:
      if (!by_program()) return Status::OK();
      return Corrupt("the table was made by an SstFileWriter, and not by a database");
    case InspectOptions::Writer::kEither:
      break;
  }
  return Status::OK();
}

// Widens the bounds of range deletions, whose ends are not in order, and of sequence numbers. In a
// program's table that was given no sequence number, range deletions must have number 0, as points
// must.
Status Inspection::TakeTombstones() {
  const FragmentedTombstones* const all = table_.reader->tombstones().get();
  if (all == nullptr || all->empty()) return Status::OK();
  const InternalKeyComparator& icmp = *options_.icmp;
  bool first = true;
  for (const FragmentedTombstones::Tombstone& tombstone : all->InKeyOrder()) {
    NoteSequence(tombstone.seq);
    // A tombstone without a timestamp has the oldest.
    if (first) {
      const std::string begin = tombstone.timestamp.empty()
                                    ? icmp.LastUserKey(tombstone.start)
                                    : tombstone.start.ToString() + tombstone.timestamp.ToString();
      table_.smallest_tombstone.Set(begin, tombstone.seq, kTypeRangeDeletion);
      first = false;
    }
    if (table_.largest_tombstone_end.empty() ||
        icmp.CompareKey(icmp.KeyOf(table_.largest_tombstone_end), tombstone.end) < 0) {
      table_.largest_tombstone_end.Set(icmp.FirstUserKey(tombstone.end), kMaxSequenceNumber,
                                       kTypeRangeDeletion);
    }
  }
  if (by_program() && table_.global_seqno == 0 && options_.largest_seq == kMaxSequenceNumber &&
      table_.largest_seq != 0) {
    return Corrupt("a range deletion of a program's table has sequence number " +
                   std::to_string(table_.largest_seq));
  }
  return Status::OK();
}

// A database's table may have any entry; a program's, only what an SstFileWriter adds.
Status Inspection::CheckPoint(const ParsedInternalKey& key) const {
  if (key.user_key.size() < options_.icmp->timestamp_size()) {
    return Corrupt("a key is shorter than its timestamp");
  }
  if (!by_program()) return Status::OK();
  const bool known = key.type == kTypeValue || key.type == kTypeMerge ||
                     key.type == kTypeDeletion || key.type == kTypeDeletionWithTimestamp ||
                     key.type == kTypeWideColumnEntity;
  if (!known) {
    return Corrupt("a program's table has an entry of type " + std::to_string(key.type));
  }
  // No number replaces those in the keys, and SstFileWriter writes 0.
  if (table_.global_seqno == 0 && options_.largest_seq == kMaxSequenceNumber && key.sequence != 0) {
    return Corrupt("a key of a program's table has sequence number " +
                   std::to_string(key.sequence));
  }
  return Status::OK();
}

// Called for the entries in their order, or for the two ends alone: two neighbours are known as
// such only with every_block.
Status Inspection::TakePoint(const Slice& key) {
  ParsedInternalKey parsed;
  if (!ParseInternalKey(key, &parsed) || parsed.type == kTypeRangeDeletion) {
    return DescribeBadInternalKey(key, table_.path);
  }
  VARVE_RETURN_IF_ERROR(CheckPoint(parsed));
  NoteSequence(parsed.sequence);
  if (by_program() && !table_.largest_point.empty() &&
      options_.icmp->CompareUserKey(table_.largest_point.user_key(), parsed.user_key) >= 0 &&
      options_.every_block) {
    return Corrupt("a program's table has a key twice");
  }
  if (table_.smallest_point.empty()) {
    table_.smallest_point.Set(parsed.user_key, parsed.sequence, parsed.type);
  }
  table_.largest_point.Set(parsed.user_key, parsed.sequence, parsed.type);
  return Status::OK();
}

// Reads only the first and the last data block. The index must be in order, as it alone says
// which these are.
Status Inspection::TakeEnds() {
  VARVE_RETURN_IF_ERROR(table_.reader->CheckIndex(reads_));
  const auto it = table_.reader->NewIterator(reads_, TableIterOptions());
  it->SeekToFirst();
  VARVE_RETURN_IF_ERROR(it->status());
  if (!it->Valid()) return Status::OK();
  VARVE_RETURN_IF_ERROR(TakePoint(it->key()));
  it->SeekToLast();
  VARVE_RETURN_IF_ERROR(it->status());
  if (!it->Valid()) return Corrupt("the table has a first entry and no last one");
  VARVE_RETURN_IF_ERROR(TakePoint(it->key()));
  if (options_.icmp->Compare(table_.smallest_point.Encode(), table_.largest_point.Encode()) > 0) {
    return Corrupt("the first entry of the table sorts after the last one");
  }
  return Status::OK();
}

// The checksums of all blocks come first, so that no entry is looked at in a file that is damaged
// anywhere. Then the blocks are read again, and their entries are checked and counted.
Status Inspection::TakeEveryBlock() {
  VARVE_RETURN_IF_ERROR(table_.reader->VerifyChecksum(reads_, options_.pace));
  const auto take = [this](const Slice& key, const Slice& /*value*/) {
    VARVE_RETURN_IF_ERROR(TakePoint(key));
    table_.points++;
    const ValueType type = ExtractValueType(key);
    if (type == kTypeMerge) operands_++;
    if (type == kTypeBlobIndex) table_.references++;
    if (type == kTypeDeletion || type == kTypeSingleDeletion ||
        type == kTypeDeletionWithTimestamp) {
      deletions_++;
    }
    return Status::OK();
  };
  VARVE_RETURN_IF_ERROR(table_.reader->CheckEntries(reads_, take, options_.pace));
  return CheckCounts();
}

// Compares what was counted with the properties, which count range deletions among the entries and
// among the deletions.
Status Inspection::CheckCounts() const {
  const TableProperties& properties = *table_.properties;
  // LevelDB's tables have no properties.
  if (properties.comparator_name.empty() && properties.num_entries == 0) return Status::OK();
  const uint64_t ranges = properties.num_range_deletions;
  const auto differ = [&](const char* what, uint64_t said, uint64_t found) {
    return Corrupt("the table's properties speak of " + std::to_string(said) + " " + what +
                   ", and it has " + std::to_string(found));
  };
  if (properties.num_entries != table_.points + ranges) {
    return differ("entries", properties.num_entries, table_.points + ranges);
  }
  if (properties.num_deletions != deletions_ + ranges) {
    return differ("deletions", properties.num_deletions, deletions_ + ranges);
  }
  if (properties.num_merge_operands != operands_) {
    return differ("merge operands", properties.num_merge_operands, operands_);
  }
  return Status::OK();
}

// A range deletion may begin before the first point or end behind the last one; a version needs
// bounds that cover both.
void Inspection::SetBounds() {
  const InternalKeyComparator& icmp = *options_.icmp;
  table_.smallest = table_.smallest_point;
  table_.largest = table_.largest_point;
  if (table_.smallest_tombstone.empty()) return;
  if (table_.smallest.empty() ||
      icmp.Compare(table_.smallest_tombstone.Encode(), table_.smallest.Encode()) < 0) {
    table_.smallest = table_.smallest_tombstone;
  }
  if (table_.largest.empty() ||
      icmp.Compare(table_.largest_tombstone_end.Encode(), table_.largest.Encode()) > 0) {
    table_.largest = table_.largest_tombstone_end;
  }
}

}  // namespace

Status InspectTable(const std::string& path, const InspectOptions& options, InspectedTable* table) {
  *table = InspectedTable();
  table->path = path;
  const Status s = Inspection(options, table).Run();
  // Closes the file, too, so that a caller may delete a table that was refused.
  if (!s.ok()) *table = InspectedTable();
  return s;
}

}  // namespace varve
