// SPDX-License-Identifier: Apache-2.0
#include "table/reader/table_facts.h"

#include "table/format/unique_id.h"
#include "util/key/internal_key.h"

namespace varve {

Status CheckTableIdentity(const TableProperties& properties, const TableOpenOptions& options,
                          const std::string& name) {
  if (options.expected_unique_id.empty()) return Status::OK();
  const std::string id =
      TableUniqueId(properties.db_id, properties.db_session_id, properties.orig_file_number);
  // Tables of older writers have no identity to be compared.
  if (id.empty() || id == options.expected_unique_id) return Status::OK();
  return Status::Corruption("table is not the one in the MANIFEST: unique id " +
                                Slice(id).ToString(true) + ", expected " +
                                Slice(options.expected_unique_id).ToString(true),
                            name);
}

// A table made outside a database has number zero in all keys. Ingestion gives it one, in the
// MANIFEST alone or also in the table's properties; where both have one they must agree. That is so
// from external_version 2 on; a table of version 1 shows the numbers in its keys.
Status FindOverrideSequence(const TableTraits& traits, const TableOpenOptions& options,
                            const std::string& name, SequenceNumber* sequence) {
  if (traits.external_version != 2) return Status::OK();
  const SequenceNumber stored = traits.external_global_seqno;
  const SequenceNumber from_manifest = options.largest_seq;
  if (stored != 0 && from_manifest != kMaxSequenceNumber && stored != from_manifest) {
    return Status::Corruption("table has global sequence number " + std::to_string(stored) +
                                  ", the MANIFEST " + std::to_string(from_manifest),
                              name);
  }
  SequenceNumber seq = stored;
  if (seq == 0 && from_manifest != kMaxSequenceNumber) seq = from_manifest;
  if (seq > kMaxSequenceNumber) {
    return Status::Corruption("global sequence number out of range", name);
  }
  // The keys already have the sequence number zero.
  if (seq != 0) *sequence = seq;
  return Status::OK();
}

}  // namespace varve
