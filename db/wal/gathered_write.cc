// SPDX-License-Identifier: Apache-2.0
#include "db/wal/gathered_write.h"

#include <cstring>

#include "util/base/status_macros.h"

namespace varve::wal {

// Without a header, the header's place is left for later: that of the record's first fragment is
// written last, so that a reader never finds the beginning of a record whose rest is missing.
IOStatus GatheredWrite::Add(uint64_t offset, const char* header, const Slice& head,
                            const Slice& tail) {
  const uint64_t start = header == nullptr ? offset + kHeaderBytes : offset;
  // One write takes a limited number of fragments, which must follow each other without a gap.
  if (fragments_ == kFragmentsMax || start != end_) VARVE_RETURN_IF_ERROR(Write());
  if (parts_ == 0) begin_ = end_ = start;
  if (header != nullptr) {
    char* const copy = headers_[fragments_];
    std::memcpy(copy, header, kHeaderBytes);
    AddPart(Slice(copy, kHeaderBytes));
  }
  AddPart(head);
  AddPart(tail);
  fragments_++;
  return IOStatus::OK();
}

void GatheredWrite::AddPart(const Slice& part) {
  if (part.empty()) return;
  list_[parts_++] = part;
  end_ += part.size();
}

IOStatus GatheredWrite::Write() {
  if (parts_ == 0) return IOStatus::OK();
  IOStatus s = file_->Write(begin_, list_.data(), parts_);
  fragments_ = 0;
  parts_ = 0;
  return s;
}

}  // namespace varve::wal
