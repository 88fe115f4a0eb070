// SPDX-License-Identifier: Apache-2.0
#include "db/version/entry_place.h"

#include <cstdint>
#include <memory>
#include <string>

#include "db/blob/blob_reference.h"
#include "db/version/file_bounds.h"
#include "table/table_reader.h"
#include "util/env/file_names.h"
#include "util/key/entity.h"
#include "util/key/internal_key.h"

namespace varve {

namespace {

bool IsIllFormed(const Slice& internal_key, const Slice& value) {
  BlobReference reference;
  switch (ExtractValueType(internal_key)) {
    case kTypeBlobIndex:
      return !BlobReference::DecodeInDatabase(value, &reference).ok();
    case kTypeWideColumnEntity:
      return !CheckEntity(value).ok();
    default:
      return false;
  }
}

// Looks for an ill-formed entry of the key in one table. Sets *offset to its block's.
bool FindIn(const TableReader& table, const ReadOptions& options, const InternalKeyComparator& icmp,
            const Slice& key, SequenceNumber visible, uint64_t* offset) {
  const std::unique_ptr<InternalIterator> it = table.NewIterator(options, TableIterOptions());
  for (it->Seek(icmp.FirstInternalKey(key).Encode()); it->Valid(); it->Next()) {
    const Slice found = it->key();
    if (found.size() < kInternalKeyTrailerBytes + icmp.timestamp_size()) return false;
    if (icmp.CompareKey(icmp.KeyOf(found), key) != 0) return false;
    if (ExtractSequence(found) <= visible && IsIllFormed(found, it->value())) {
      *offset = table.ApproximateOffsetOf(options, found);
      return true;
    }
  }
  return false;
}

}  // namespace

// Tables are asked in the order of a point read, so the entry is the one that such a read has met,
// or, below operands, their base. A table that cannot be read is passed over: the error tells of an
// entry that was read.
Status NameTableOfEntry(const Status& error, const ReadOptions& options, const Version& version,
                        TableCache* tables, const Slice& key, SequenceNumber visible) {
  if (!error.IsCorruption() && !error.IsNotSupported()) return error;
  ReadOptions quiet;
  quiet.read_tier = options.read_tier;
  quiet.verify_checksums = options.verify_checksums;
  quiet.fill_cache = false;
  quiet.total_order_seek = true;
  for (int level = 0; level < version.non_empty_levels(); level++) {
    const LevelFiles& files = version.level(level);
    for (size_t i = 0; i < files.size(); i++) {
      if (!FileCovers(*files[i], key, *version.icmp())) continue;
      TableRef table;
      uint64_t offset = 0;
      if (!tables->Find(files[i], level, quiet, &table).ok()) continue;
      if (!FindIn(*table.get(), quiet, *version.icmp(), key, visible, &offset)) continue;
      return Status::CopyAppendMessage(error, "; ",
                                       "in " + TableFileName("", files[i]->number).substr(1) +
                                           " offset " + std::to_string(offset));
    }
  }
  return error;
}

}  // namespace varve
