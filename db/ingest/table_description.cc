// SPDX-License-Identifier: Apache-2.0

// An external table is untrusted input. The checks are ordered by their cost, the cheapest first:
//
//     CheckProperties       written for ingestion, or by a database and allowed; comparator, family
//     FindPointBounds       the first and the last key, from the table's ends; or
//     TakePointBounds       from its writer (PreparedFileInfo), if it is the same file
//     AddTombstoneBounds    range deletions widen the bounds
//     InspectAll            every block and every entry, if the options ask for it, and always if
//                           the entries keep their sequence numbers
//
// The entries of a file of SstFileWriter have sequence number 0, which the ingestion may replace,
// so another number in it is Corruption. A table of a database keeps its sequence numbers. It must
// have no range deletions, since only the MANIFEST of that database has the bounds within which
// they act.

#include "db/ingest/table_description.h"

#include <string>
#include <utility>

#include "table/format/unique_id.h"
#include "table/inspect/inspect_table.h"
#include "table/inspect/prepared_file_info.h"
#include "util/base/status_macros.h"
#include "util/coding/fixed.h"

namespace varve {

namespace {

constexpr const char* kVersionProperty = "rocksdb.external_sst_file.version";

using Context = TablePropertiesCollectorFactory::Context;

// Returns the version of the external-file format, or 0 if the table was not made for ingestion.
uint32_t ExternalVersion(const TableProperties& properties) {
  const auto it = properties.user_collected_properties.find(kVersionProperty);
  if (it == properties.user_collected_properties.end() || it->second.size() != sizeof(uint32_t))
    return 0;
  return DecodeFixed32(it->second.data());
}

// Describes and checks one table, by steps that each read or set a part of `table`.
class Description {
 public:
  Description(const ColumnFamily& family, const IngestExternalFileOptions& options,
              StagedTable* table)
      : family_(family), icmp_(family.icmp()), options_(options), table_(*table) {}

  Status Make() {
    VARVE_RETURN_IF_ERROR(CheckProperties());
    VARVE_RETURN_IF_ERROR(table_.prepared != nullptr ? TakePointBounds() : FindPointBounds());
    VARVE_RETURN_IF_ERROR(AddTombstoneBounds());
    if (table_.file.smallest.empty()) {
      return Status::InvalidArgument("the file has no entries", table_.source);
    }
    const bool all = table_.db_generated || options_.verify_checksums_before_ingest;
    return all ? InspectAll() : Status::OK();
  }

 private:
  Status Bad(const std::string& what) const { return Status::Corruption(table_.source, what); }
  Status CheckProperties();
  Status CheckTimestamps() const;
  Status FindPointBounds();
  // Takes the bounds from PreparedFileInfo.
  Status TakePointBounds();
  Status AddTombstoneBounds();
  Status InspectAll();
  Status CheckKey(const Slice& internal_key) const;

  const ColumnFamily& family_;
  const InternalKeyComparator& icmp_;
  const IngestExternalFileOptions& options_;
  StagedTable& table_;
};

Status Description::CheckProperties() {
  const TableProperties& properties = *table_.properties;
  const uint32_t version = ExternalVersion(properties);
  table_.db_generated = version == 0 && options_.allow_db_generated_files;
  if (version == 0 && !table_.db_generated) {
    return Bad("is no table of an SstFileWriter: it has no version of external files");
  }
  const std::string comparator = icmp_.user_comparator()->Name();
  if (!properties.comparator_name.empty() && properties.comparator_name != comparator) {
    return Status::InvalidArgument(table_.source, "was written with comparator " +
                                                      properties.comparator_name +
                                                      ", and the column family has " + comparator);
  }
  VARVE_RETURN_IF_ERROR(CheckTimestamps());
  const uint64_t id = properties.column_family_id;
  // The family id in a table of another database is meaningless here.
  if (id != Context::kUnknownColumnFamily && id != family_.id() && !table_.db_generated) {
    return Status::InvalidArgument(
        table_.source, "was written for the column family with id " + std::to_string(id) +
                           ", and " + family_.name() + " has " + std::to_string(family_.id()));
  }
  NewFile& file = table_.file;
  file.unique_id =
      TableUniqueId(properties.db_id, properties.db_session_id, properties.orig_file_number);
  file.counts = CountsOf(properties);
  file.timestamps_persisted = properties.user_defined_timestamps_persisted != 0;
  const uint64_t tail = properties.tail_start_offset;
  file.tail_size = tail != 0 && tail < file.size ? file.size - tail : 0;
  table_.only_tombstone = properties.num_entries == 1 && properties.num_range_deletions == 1;
  return Status::OK();
}

// Checks that the table stores timestamps if the family's tables do, and strips them if they do.
Status Description::CheckTimestamps() const {
  if (icmp_.timestamp_size() == 0) return Status::OK();
  const bool stored = table_.properties->user_defined_timestamps_persisted != 0;
  const bool wanted = family_.options()->persist_user_defined_timestamps;
  if (stored == wanted) return Status::OK();
  return Status::InvalidArgument(table_.source,
                                 std::string("was written with persist_user_defined_timestamps ") +
                                     (stored ? "true" : "false") + ", and the column family has " +
                                     (wanted ? "true" : "false"));
}

Status Description::CheckKey(const Slice& internal_key) const {
  ParsedInternalKey key;
  if (!ParseInternalKey(internal_key, &key)) {
    return DescribeBadInternalKey(internal_key, table_.source);
  }
  if (key.sequence != 0 && !table_.db_generated) {
    return Bad("has a key with sequence number " + std::to_string(key.sequence) +
               ": external files have none");
  }
  if (key.user_key.size() < icmp_.timestamp_size()) {
    return Bad("has a key that is shorter than its timestamp");
  }
  return Status::OK();
}

// Sets the bounds from the first and the last entry, which are read and checked. The entries in
// between are checked only by InspectAll.
Status Description::FindPointBounds() {
  ReadOptions reading;
  reading.fill_cache = options_.fill_cache;
  VARVE_RETURN_IF_ERROR(table_.reader->CheckIndex(reading));
  // The first and the last block are no more likely to be read again than others.
  reading.fill_cache = false;
  const auto it = table_.reader->NewIterator(reading, TableIterOptions());
  it->SeekToFirst();
  if (it->Valid()) {
    VARVE_RETURN_IF_ERROR(CheckKey(it->key()));
    (void)table_.file.smallest.DecodeFrom(it->key());
    it->SeekToLast();
    if (!it->Valid()) return it->status().ok() ? Bad("has a first key and no last") : it->status();
    VARVE_RETURN_IF_ERROR(CheckKey(it->key()));
    (void)table_.file.largest.DecodeFrom(it->key());
    if (icmp_.Compare(table_.file.smallest.Encode(), table_.file.largest.Encode()) > 0)
      return Bad("has its last key before its first");
  }
  return it->status();
}

Status Description::TakePointBounds() {
  const PreparedFileInfo& info = *table_.prepared;
  NewFile& file = table_.file;
  if (info.file_size != file.size || info.unique_id != file.unique_id) {
    return Status::InvalidArgument(table_.source,
                                   "is not the file that its entry of file_infos describes");
  }
  if (info.smallest.empty()) return Status::OK();
  VARVE_RETURN_IF_ERROR(CheckKey(info.smallest));
  VARVE_RETURN_IF_ERROR(CheckKey(info.largest));
  (void)file.smallest.DecodeFrom(info.smallest);
  (void)file.largest.DecodeFrom(info.largest);
  return Status::OK();
}

// Extends the bounds to range deletions, as reads of every deleted key must consult the table. An
// exclusive end is expressed as a bound with the largest sequence number.
Status Description::AddTombstoneBounds() {
  const auto& tombstones = table_.reader->tombstones();
  if (tombstones == nullptr || tombstones->empty()) return Status::OK();
  if (table_.db_generated) {
    return Status::NotSupported(table_.source,
                                "is of a database and has range deletions: how far they reach only "
                                "that database's MANIFEST says");
  }
  if (tombstones->max_seq() != 0) {
    return Bad("has a range deletion with sequence number " +
               std::to_string(tombstones->max_seq()) + ": external files have none");
  }
  NewFile& file = table_.file;
  const InternalKey first(icmp_.FirstUserKey(tombstones->bound(0)), 0, kTypeRangeDeletion);
  const InternalKey end(icmp_.FirstUserKey(tombstones->bound(tombstones->size())),
                        kMaxSequenceNumber, kTypeRangeDeletion);
  if (file.smallest.empty() || icmp_.Compare(first.Encode(), file.smallest.Encode()) < 0)
    file.smallest = first;
  if (file.largest.empty() || icmp_.Compare(end.Encode(), file.largest.Encode()) > 0)
    file.largest = end;
  return Status::OK();
}

// Checks every block and every entry, without filling the block cache.
Status Description::InspectAll() {
  const TableCacheOptions& cache = family_.table_cache()->options();
  InspectOptions inspect;
  inspect.fs = cache.fs.get();
  inspect.file_options = cache.file_options;
  inspect.icmp = &icmp_;
  inspect.factory = cache.cf_options->table_factory;
  inspect.prefix_extractor = cache.cf_options->prefix_extractor;
  inspect.statistics = cache.statistics;
  inspect.writer =
      table_.db_generated ? InspectOptions::Writer::kDatabase : InspectOptions::Writer::kProgram;
  inspect.every_block = true;
  inspect.readahead_size = options_.verify_checksums_readahead_size;
  InspectedTable inspected;
  const Status s = InspectTable(table_.path, inspect, &inspected);
  if (!s.ok()) return Status::CopyAppendMessage(s, "; it was staged from ", table_.source);
  if (inspected.references != 0) {
    return Status::NotSupported(table_.source,
                                "refers to values in blob files, which an ingestion does not "
                                "bring: " +
                                    std::to_string(inspected.references) + " entries");
  }
  if (table_.db_generated) {
    table_.file.smallest_seq = inspected.smallest_seq;
    table_.file.largest_seq = inspected.largest_seq;
  }
  return Status::OK();
}

}  // namespace

// The reader is opened for the expected level, and is reused by the table cache if the table is
// placed there.
Status DescribeExternalTable(const ColumnFamily& family, const IngestExternalFileOptions& options,
                             StagedTable* table) {
  // Lets the reader show the numbers that the entries have in the file.
  table->file.largest_seq = kMaxSequenceNumber;
  const Status s = family.table_cache()->OpenOutside(table->file, table->path,
                                                     family.table_paths().FileName(table->file),
                                                     table->expected_level, &table->reader);
  if (!s.ok()) return Status::CopyAppendMessage(s, "; it was staged from ", table->source);
  table->file.largest_seq = 0;
  table->properties = table->reader->properties();
  return Description(family, options, table).Make();
}

}  // namespace varve
