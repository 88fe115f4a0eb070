// SPDX-License-Identifier: Apache-2.0
#include "db/wal/timestamp_sizes.h"

#include <cassert>
#include <utility>

#include "util/base/assert.h"
#include "util/coding/fixed.h"
#include "util/key/entry_limits.h"

namespace varve::wal {

namespace {

constexpr size_t kEntryBytes = 4 + 2;  // Family, size.
// 6 KiB, so that little of a block is wasted where a record does not fit.
constexpr size_t kEntriesPerRecord = 1024;

}  // namespace

std::vector<std::string> EncodeTimestampSizes(const TimestampSizes& sizes) {
  std::vector<std::string> payloads;
  for (const auto& [family, size] : sizes) {
    if (payloads.empty() || payloads.back().size() == kEntriesPerRecord * kEntryBytes) {
      payloads.emplace_back();
    }
    PutFixed32(&payloads.back(), family);
    VARVE_ASSERT(size > 0 && size <= kTimestampBytesMax);
    PutFixed16(&payloads.back(), static_cast<uint16_t>(size));
  }
  return payloads;
}

Status DecodeTimestampSizes(const Slice& payload, TimestampSizes* sizes) {
  if (payload.size() % kEntryBytes != 0) {
    return Status::Corruption("timestamp sizes", "of " + std::to_string(payload.size()) + " bytes");
  }
  TimestampSizes all = *sizes;  // a copy, so that a refused payload changes nothing
  for (size_t at = 0; at < payload.size(); at += kEntryBytes) {
    const uint32_t family = DecodeFixed32(payload.data() + at);
    const size_t size = DecodeFixed16(payload.data() + at + 4);
    const std::string name = "column family " + std::to_string(family);
    if (size == 0) return Status::Corruption("timestamp sizes", name + " has size 0");
    if (!all.emplace(family, size).second) {
      return Status::Corruption("timestamp sizes", name + " is named twice");
    }
  }
  *sizes = std::move(all);
  return Status::OK();
}

}  // namespace varve::wal
