// SPDX-License-Identifier: Apache-2.0
#include "db/read/walk_blobs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "db/blob/blob_reference.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/key/internal_key.h"

namespace varve {

// Drops the values before it, whose entries the walk passed without asking for them.
bool WalkBlobs::TakeAhead(Status* status) {
  while (!ahead_.empty()) {
    Ahead& first = ahead_.front();
    const bool found = first.encoded == encoded_ && first.user_key == user_key_;
    if (found) {
      value_ = std::move(first.value);
      *status = std::move(first.status);
    }
    ahead_.pop_front();
    if (found) return true;
  }
  return false;
}

// Collects the shown entry and those of `following` that are references and not too new, up to a
// window that doubles with each call and a limit of bytes, and reads their values together. Some of
// them may be hidden or under a tombstone, and are read in vain. If nothing follows, reads nothing.
// Errors stay with the entries.
void WalkBlobs::ReadAhead(std::span<const BatchEntry> following, SequenceNumber visible) {
  uint64_t bytes = 0;
  const auto add = [&](const Slice& user_key, const Slice& encoded) {
    BlobReference reference;
    if (!BlobReference::DecodeInDatabase(encoded, &reference).ok()) return;
    bytes += std::min(reference.size, kAheadBytes);
    if (bytes > kAheadBytes) return;
    Ahead& next = ahead_.emplace_back();
    next.user_key.assign(user_key.data(), user_key.size());
    next.encoded.assign(encoded.data(), encoded.size());
  };
  add(user_key_, encoded_);
  for (const BatchEntry& entry : following) {
    if (bytes > kAheadBytes || ahead_.size() >= window_) break;
    if (ExtractValueType(entry.key()) == kTypeBlobIndex &&
        ExtractSequence(entry.key()) <= visible) {
      add(ExtractUserKey(entry.key()), entry.value());
    }
  }
  window_ = std::min(2 * window_, kLastWindow);
  if (ahead_.size() < 2) return ahead_.clear();
  std::vector<BlobRequest> requests(ahead_.size());
  for (size_t i = 0; i < requests.size(); i++) {
    requests[i].user_key = ahead_[i].user_key;
    requests[i].encoded = ahead_[i].encoded;
    requests[i].value = &ahead_[i].value;
  }
  source_.MultiGet(options_, version_, requests);
  for (size_t i = 0; i < requests.size(); i++) ahead_[i].status = std::move(requests[i].status);
}

// Tries in this order: the value that was read already, one that was read ahead, a read of it
// together with what follows, and at last a read of it alone. A value that could not be read ahead
// is read again when the walk comes to it, alone; one that was asked for now is not.
Status WalkBlobs::Read(std::span<const BatchEntry> following, SequenceNumber visible,
                       Slice* value) {
  VARVE_ASSERT(active_);
  if (!read_) {
    Status s;
    bool found = TakeAhead(&s) && s.ok();
    if (!found && s.ok() && LooksAhead()) {
      ReadAhead(following, visible);
      found = TakeAhead(&s);
    }
    if (!found) s = source_.Get(options_, version_, user_key_, encoded_, &value_);
    VARVE_RETURN_IF_ERROR(s);
    reads_in_a_row_ += LooksAhead() ? 0 : 1;
    read_ = true;
  }
  *value = value_;
  return Status::OK();
}

}  // namespace varve
