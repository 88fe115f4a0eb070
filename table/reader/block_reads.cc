// SPDX-License-Identifier: Apache-2.0
#include "table/reader/block_reads.h"

#include <algorithm>
#include <utility>

#include "table/format/block_trailer.h"
#include "util/base/assert.h"
#include "util/metrics/perf_counters.h"

namespace varve {

void BlockReads::Add(const BlockHandle& handle) {
  const uint64_t end = handle.offset + handle.size + kBlockTrailerBytes;
  if (!requests_.empty()) {
    Request& last = requests_.back();
    if (handle.offset <= last.end + kGapBytesMax && end - last.offset <= kRequestBytesMax) {
      last.end = std::max(last.end, end);
      last.blocks++;
      return;
    }
  }
  requests_.push_back({handle.offset, end, 1, nullptr, Slice()});
}

void BlockReads::ReadAhead(const RandomAccessFileReader& file, const IOOptions& options) const {
  for (const Request& request : requests_) {
    const auto n = static_cast<size_t>(request.end - request.offset);
    // If prefetching is not supported, the reads run one after the other.
    (void)file.Prefetch(request.offset, n, options);
  }
}

size_t BlockReads::Run(const RandomAccessFileReader& file, const IOOptions& options,
                       const BlockRoom& room) {
  std::vector<FSReadRequest> reads(requests_.size());
  uint64_t bytes = 0;
  for (size_t i = 0; i < reads.size(); i++) {
    Request& request = requests_[i];
    VARVE_ASSERT(request.buffer == nullptr && request.blocks > 0);
    const auto n = static_cast<size_t>(request.end - request.offset);
    request.buffer = AllocateBlockBuffer(n, request.blocks == 1 ? room : BlockRoom());
    if (request.buffer == nullptr) return 0;
    reads[i].offset = request.offset;
    reads[i].len = n;
    reads[i].scratch = request.buffer.get();
    bytes += n;
  }
  AddPerfCount<&PerfContext::block_read_byte>(bytes);
  const PerfTimer<&PerfContext::block_read_time> timer;
  if (!file.MultiRead(reads.data(), reads.size(), options).ok()) return reads.size();
  for (size_t i = 0; i < reads.size(); i++) {
    if (reads[i].status.ok()) requests_[i].result = reads[i].result;
  }
  return reads.size();
}

bool BlockReads::Find(const BlockHandle& handle, Slice* bytes, uint64_t* offset,
                      BlockBuffer* buffer) {
  const uint64_t end = handle.offset + handle.size + kBlockTrailerBytes;
  for (Request& request : requests_) {
    if (handle.offset < request.offset || end > request.end) continue;
    *offset = request.offset;
    if (request.blocks == 1) {
      // A block is found once: in a damaged index another block may have the same offset, and the
      // bytes may be gone then.
      *bytes = std::exchange(request.result, Slice());
      *buffer = std::move(request.buffer);
    } else {
      *bytes = request.result;
    }
    return !bytes->empty();
  }
  return false;
}

}  // namespace varve
