// SPDX-License-Identifier: Apache-2.0
#include "db/read/blob_read.h"

#include <string>

#include "db/version/blob_source.h"
#include "db/version/entry_place.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// Resolves the reference of an entry that the lookup has met. A table that is read alone
// (SingleTable) has no directory of blob files.
Status ReadReferred(const ReadOptions& options, const SuperVersion& super_version,
                    const PointLookup& lookup, const Slice& encoded, PinnableSlice* value) {
  TableCache* const cache = super_version.table_cache();
  if (cache->options().paths != nullptr) [[likely]] {
    const Version& version = super_version.version();
    const Status s = cache->blobs().Get(options, version, FoundUserKey(lookup), encoded, value);
    if (s.ok()) [[likely]]
      return s;
    return NameTableOfEntry(s, options, version, cache, lookup.key(), lookup.snapshot());
  }
  BlobReference reference;
  VARVE_RETURN_IF_ERROR(BlobReference::DecodeInDatabase(encoded, &reference));
  return Status::NotSupported("the value is not in the table but in a blob file",
                              reference.ToString());
}

}  // namespace

// The record in the blob file has the whole user key, which is compared with this one.
std::string FoundUserKey(const PointLookup& lookup) {
  std::string user_key = lookup.key().ToString();
  const Slice timestamp = lookup.last_timestamp();
  user_key.append(timestamp.data(), timestamp.size());
  return user_key;
}

// The lookup has left the encoded reference in *value; it is copied out before the value takes its
// place.
Status ReadReference(const ReadOptions& options, const SuperVersion& super_version,
                     const PointLookup& lookup, PinnableSlice* value) {
  VARVE_ASSERT(lookup.state() == PointLookup::State::kReference);
  const std::string encoded = value->ToString();
  return ReadReferred(options, super_version, lookup, encoded, value);
}

Status ReadReferenceOfBase(const ReadOptions& options, const SuperVersion& super_version,
                           PointLookup* lookup, PinnableSlice* value) {
  if (!lookup->base_is_reference()) [[likely]]
    return Status::OK();
  MergeOperands* const operands = lookup->operands();
  VARVE_RETURN_IF_ERROR(ReadReferred(options, super_version, *lookup, *operands->base(), value));
  operands->ReplaceBase(*value);
  return Status::OK();
}

}  // namespace varve
