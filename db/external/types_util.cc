// SPDX-License-Identifier: Apache-2.0

// Implements the public functions that make and parse internal keys.

#include "varve/utilities/types_util.h"

#include "util/base/status_macros.h"
#include "util/key/entry_types.h"
#include "util/key/internal_key.h"

namespace varve {

namespace {

Status CheckUserKey(const Slice& user_key, const Comparator* comparator, const void* result) {
  if (comparator == nullptr || result == nullptr) {
    return Status::InvalidArgument("internal key: the comparator or the place for it is null");
  }
  if (user_key.size() < comparator->timestamp_size()) {
    return Status::InvalidArgument("internal key: the user key is shorter than its timestamp");
  }
  return Status::OK();
}

}  // namespace

Status GetInternalKeyForSeek(const Slice& user_key, const Comparator* comparator,
                             std::string* buf) {
  VARVE_RETURN_IF_ERROR(CheckUserKey(user_key, comparator, buf));
  std::string key;
  // The largest sequence number sorts before all entries of the key.
  AppendInternalKey(&key, user_key, kMaxSequenceNumber, kValueTypeForSeek);
  *buf = std::move(key);
  return Status::OK();
}

Status GetInternalKeyForSeekForPrev(const Slice& user_key, const Comparator* comparator,
                                    std::string* buf) {
  VARVE_RETURN_IF_ERROR(CheckUserKey(user_key, comparator, buf));
  std::string key;
  // The smallest sequence number and type sort after all entries of the key.
  AppendInternalKey(&key, user_key, 0, kValueTypeForSeekForPrev);
  *buf = std::move(key);
  return Status::OK();
}

Status ParseEntry(const Slice& internal_key, const Comparator* comparator,
                  ParsedEntryInfo* parsed_entry) {
  ParsedInternalKey parsed;
  if (!ParseInternalKey(internal_key, &parsed)) {
    return Status::InvalidArgument("internal key: too short, or no kind of an entry");
  }
  VARVE_RETURN_IF_ERROR(CheckUserKey(parsed.user_key, comparator, parsed_entry));
  const size_t key_bytes = parsed.user_key.size() - comparator->timestamp_size();
  parsed_entry->user_key = Slice(parsed.user_key.data(), key_bytes);
  parsed_entry->timestamp = Slice(parsed.user_key.data() + key_bytes, comparator->timestamp_size());
  parsed_entry->sequence = parsed.sequence;
  parsed_entry->type = EntryTypeOf(parsed.type);
  return Status::OK();
}

}  // namespace varve
