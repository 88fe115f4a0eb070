// SPDX-License-Identifier: Apache-2.0
#include "table/reader/block_reads.h"

#include <algorithm>
#include <utility>

#include "table/format/block_trailer.h"
#include "util/base/assert.h"
#include "util/base/probes.h"
#include "util/metrics/perf_counters.h"

namespace varve {

// In a damaged index handles may overlap or go back: then the differences wrap to large numbers and
// the block gets a request of its own, or is not found and read alone.
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

void BlockReads::ReadAhead() const {
  for (const Request& request : requests_) {
    const auto n = static_cast<size_t>(request.end - request.offset);
    // If prefetching is not supported, the reads run one after the other.
    (void)file_.Prefetch(request.offset, n, options_);
  }
}

// Allocates a buffer for each request. The sizes are bounded: DecodedIndex::Decode has checked that
// each block lies within the file. Returns false if memory is out: the caller then leaves the whole
// file out.
bool BlockReads::Prepare(std::vector<FSReadRequest>* reads) {
  reads->resize(requests_.size());
  uint64_t bytes = 0;
  for (size_t i = 0; i < requests_.size(); i++) {
    Request& request = requests_[i];
    VARVE_ASSERT(request.buffer == nullptr && request.blocks > 0);
    const auto n = static_cast<size_t>(request.end - request.offset);
    // A request of one block is read to where the cache would keep it.
    request.buffer = AllocateBlockBuffer(n, request.blocks == 1 ? room_ : BlockRoom());
    if (request.buffer == nullptr) return false;
    FSReadRequest& read = (*reads)[i];
    read.offset = request.offset;
    read.len = n;
    read.scratch = request.buffer.get();
    bytes += n;
  }
  AddPerfCount<&PerfContext::block_read_byte>(bytes);
  return true;
}

// A file without memory for its requests is left out, and so is one that could not be read; its
// blocks are not found then, and are read one by one with an error of their own.
void BlockReads::Run(std::span<BlockReads> files, bool async_io) {
  std::vector<std::vector<FSReadRequest>> requests(files.size());
  std::vector<FileReads> reads;
  std::vector<BlockReads*> readers;
  for (size_t i = 0; i < files.size(); i++) {
    if (files[i].requests_.empty() || !files[i].Prepare(&requests[i])) continue;
    reads.push_back({&files[i].file_, requests[i], &files[i].options_, {}});
    readers.push_back(&files[i]);
  }
  if (reads.empty()) return;
  const PerfTimer<&PerfContext::block_read_time> timer;
  // These two are static probes, for tracing programs (util/base/probes.h).
  VARVE_PROBE_MULTI_READ_BEGIN(reads.size());
  RandomAccessFileReader::MultiReadFiles(reads, async_io);
  VARVE_PROBE_MULTI_READ_END(reads.size());
  for (size_t i = 0; i < reads.size(); i++) {
    if (!reads[i].status.ok()) continue;
    for (size_t k = 0; k < reads[i].requests.size(); k++) {
      const FSReadRequest& read = reads[i].requests[k];
      if (read.status.ok()) readers[i]->requests_[k].result = read.result;
    }
  }
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
