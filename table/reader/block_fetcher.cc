// SPDX-License-Identifier: Apache-2.0

// Brings a block from the file into memory of its own, in two steps: FetchStoredBlock finds the
// stored bytes (block and trailer), UnpackBlock checks and uncompresses them. MultiGet and the
// prefetcher use the steps separately, as they get the bytes of many blocks by one read.
//
// Where stored bytes come from, in this order:
//
//   preread     Bytes that the caller has in memory: the tail of a table that is being opened, or
//               a block that a batch of reads has fetched.
//   prefetcher  The read-ahead of an iterator, which holds the bytes, or reads them with more.
//   mapping     The file's own memory; nothing is copied.
//   file        A read into a buffer that is allocated here.
//
// What may go wrong with a handle is decided before memory is allocated for it, as handles come
// from the file and may be hostile:
//
// 1. A handle that reaches beyond `limit`, or whose size exceeds kBlockBytesMax, is Corruption. So
//    no allocation is larger than the file.
// 2. The trailer lies within the file, as `limit` is the offset of the footer.
// 3. No byte of a block is used before its checksum was compared, unless the caller asked for that.
//    The codec's number is in the trailer, and so under the checksum.
// 4. The memory of the result outlives the fetch: it is a buffer, or a mapping that lives as long
//    as the file. Bytes of a preread or of a prefetcher, which their owner will reuse, are copied.
//
// A stored block that is not compressed becomes the result without a copy, if it was read into a
// buffer with the room (BlockRoom) that the cache wants around it. `expect_compressed` says what
// is more probable, so that neither case allocates twice.

#include "table/reader/block_fetcher.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "table/format/block_trailer.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/status_macros.h"
#include "util/compress/codec.h"
#include "util/env/file_prefetcher.h"
#include "util/key/entry_limits.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

Status NoMemory(const BlockFile& file, const BlockHandle& handle) {
  return Status::MemoryLimit("no memory for a block", DescribeBlock(file, handle));
}

// Makes a codec write its output to its final place.
struct UncompressedBuffer {
  const BlockRoom& room;
  BlockBuffer buffer;

  static char* Allocate(void* arg, size_t n) {
    auto* self = static_cast<UncompressedBuffer*>(arg);
    // Never allocates zero bytes: a null result means that memory is out.
    self->buffer = AllocateBlockBuffer(std::max<size_t>(n, 1), self->room);
    return self->buffer.get();
  }
};

// Uncompresses a block that was checked into a buffer with the room that the caller wants. An error
// of the codec gets the file's name and the block's place.
Status Uncompress(const BlockFile& file, const BlockHandle& handle, const BlockFetch& fetch,
                  CompressionType type, const Slice& input, BlockContents* contents) {
  const PerfTimer<&PerfContext::block_decompress_time> timer;
  const TimeIfWanted time(fetch.statistics, DECOMPRESSION_TIMES_NANOS,
                          SystemClock::Default().get());
  // Newer versions of LevelDB use zlib's number for a bare zstd frame.
  constexpr char kZstdFrame[] = "\x28\xb5\x2f\xfd";
  if (file.footer.format_version == 0 && type == kZlibCompression &&
      input.starts_with(Slice(kZstdFrame, 4))) {
    return Status::NotSupported("zstd block in LevelDB's form", DescribeBlock(file, handle));
  }
  const Codec* const codec = FindCodec(type);
  if (codec == nullptr) return CodecNotSupported(type, DescribeBlock(file, handle));
  UncompressedBuffer output{fetch.room, nullptr};
  Slice result;
  const Status s = codec->Uncompress(fetch.use_dictionary ? Slice(file.dictionary) : Slice(), input,
                                     file.footer.format_version, kBlockBytesMax,
                                     BufferSink{&UncompressedBuffer::Allocate, &output}, &result);
  if (!s.ok()) return Status::CopyAppendMessage(s, ": ", DescribeBlock(file, handle));
  if (time.wanted()) {
    RecordTimeToHistogram(fetch.statistics, DECOMPRESSION_TIMES_NANOS, time.Nanos());
  }
  RecordTick(fetch.statistics, NUMBER_BLOCK_DECOMPRESSED);
  RecordTick(fetch.statistics, BYTES_DECOMPRESSED_FROM, input.size());
  RecordTick(fetch.statistics, BYTES_DECOMPRESSED_TO, result.size());
  contents->data = result;
  contents->buffer = std::move(output.buffer);
  contents->was_compressed = true;
  return Status::OK();
}

}  // namespace

std::string DescribeBlock(const BlockFile& file, const BlockHandle& handle) {
  return file.name + ", block at offset " + std::to_string(handle.offset);
}

// Takes the first of the places above that has the bytes. After an error *buffer may have memory
// that the caller frees with it.
Status FetchStoredBlock(const BlockFile& file, const BlockHandle& handle, const BlockFetch& fetch,
                        BlockBuffer* buffer, Slice* stored) {
  if (!handle.FitsIn(file.limit)) {
    return Status::Corruption("block handle outside the file: size " + std::to_string(handle.size) +
                                  ", limit " + std::to_string(file.limit),
                              DescribeBlock(file, handle));
  }
  const uint64_t most = VARVE_CANARY(kRefuseLargeBlocks) ? kBlockBytesMax / 16 : kBlockBytesMax;
  if (handle.size > most) {
    return Status::Corruption("block of " + std::to_string(handle.size) + " bytes is too large",
                              DescribeBlock(file, handle));
  }
  const size_t n = static_cast<size_t>(handle.size) + kBlockTrailerBytes;
  VARVE_ASSERT(handle.offset + n <= file.limit);
  // Takes the bytes from memory if they are there. The comparison avoids sums, which a hostile
  // handle could make overflow.
  if (handle.offset >= fetch.preread_offset && fetch.preread.size() >= n &&
      handle.offset - fetch.preread_offset <= fetch.preread.size() - n) {
    *stored = Slice(fetch.preread.data() + (handle.offset - fetch.preread_offset), n);
    if (fetch.preread_is_tail) RecordTick(fetch.statistics, TABLE_OPEN_PREFETCH_TAIL_HIT);
    if (fetch.preread_buffer != nullptr && fetch.preread_buffer->get() == stored->data()) {
      *buffer = std::move(*fetch.preread_buffer);
    }
    return Status::OK();
  }
  if (fetch.preread_is_tail) RecordTick(fetch.statistics, TABLE_OPEN_PREFETCH_TAIL_MISS);
  const IOOptions* io = &fetch.io;
  IOOptions limited;
  if (fetch.deadline.count() != 0) [[unlikely]] {
    limited = fetch.io;
    VARVE_RETURN_IF_ERROR(file.reader->LimitTime(fetch.deadline, &limited));
    io = &limited;
  }
  AddPerfCount<&PerfContext::block_read_count>();
  AddPerfCount<&PerfContext::block_read_byte>(n);
  const PerfTimer<&PerfContext::block_read_time> timer;
  const bool maps = file.mapped && fetch.prefetcher == nullptr;
  // Says if the read needs no buffer: a mapped file and a prefetcher that has the bytes return
  // memory of their own.
  const bool here = fetch.prefetcher != nullptr && fetch.prefetcher->Holds(handle.offset, n);
  if (!maps && !here) {
    *buffer = AllocateBlockBuffer(n, fetch.expect_compressed ? BlockRoom() : fetch.room);
    if (*buffer == nullptr) return NoMemory(file, handle);
  }
  if (fetch.prefetcher != nullptr) {
    return fetch.prefetcher->Read(*file.reader, handle.offset, n, fetch.prefetch_limit, stored,
                                  buffer->get(), *io);
  }
  return file.reader->Read(handle.offset, n, stored, buffer->get(), *io);
}

bool IsIntact(const BlockFile& file, const BlockHandle& handle, const BlockFetch& fetch,
              const Slice& stored) {
  RecordTick(fetch.statistics, BLOCK_CHECKSUM_COMPUTE_COUNT);
  const bool intact =
      BlockTrailerMatches(file.footer.checksum, file.footer.base_context_checksum, handle.offset,
                          stored.data(), static_cast<size_t>(handle.size));
  if (!intact) RecordTick(fetch.statistics, BLOCK_CHECKSUM_MISMATCH_COUNT);
  return intact;
}

// The result is, in this order: uncompressed bytes, the buffer that was read into, a piece of the
// mapped file, or a copy.
Status UnpackBlock(const BlockFile& file, const BlockHandle& handle, const BlockFetch& fetch,
                   BlockBuffer buffer, const Slice& stored, BlockContents* contents) {
  const size_t size = static_cast<size_t>(handle.size);
  if (fetch.verify_checksum && !VARVE_CANARY(kSkipBlockChecksum)) {
    const PerfTimer<&PerfContext::block_checksum_time> timer;
    if (!IsIntact(file, handle, fetch, stored)) {
      return BlockChecksumMismatch(file.footer.checksum, file.footer.base_context_checksum,
                                   stored.data(), handle, file.name);
    }
  }
  const CompressionType type = BlockCompression(stored.data(), size);
  if (type != kNoCompression) {
    return Uncompress(file, handle, fetch, type, Slice(stored.data(), size), contents);
  }
  if (buffer != nullptr && stored.data() == buffer.get()) {
    contents->data = Slice(stored.data(), size);
    contents->buffer = std::move(buffer);
    return Status::OK();
  }
  const bool in_preread = !fetch.preread.empty() && stored.data() >= fetch.preread.data() &&
                          stored.data() < fetch.preread.data() + fetch.preread.size();
  if (file.mapped && fetch.prefetcher == nullptr && !in_preread) {
    contents->data = Slice(stored.data(), size);
    return Status::OK();
  }
  // The bytes lie in memory that its owner will reuse. If a buffer was allocated for the read, and
  // was not used because the bytes came from elsewhere, it has room for the copy.
  const size_t bytes = std::max<size_t>(size, 1);
  BlockBuffer copy = buffer != nullptr ? std::move(buffer) : AllocateBlockBuffer(bytes, fetch.room);
  if (copy == nullptr) return NoMemory(file, handle);
  memcpy(copy.get(), stored.data(), size);
  contents->data = Slice(copy.get(), size);
  contents->buffer = std::move(copy);
  return Status::OK();
}

Status FetchBlock(const BlockFile& file, const BlockHandle& handle, const BlockFetch& fetch,
                  BlockContents* contents) {
  const uint32_t histogram = fetch.io.io_activity == Env::IOActivity::kCompaction
                                 ? READ_BLOCK_COMPACTION_MICROS
                                 : READ_BLOCK_GET_MICROS;
  const StopWatch watch(SystemClock::Default().get(), fetch.statistics, histogram);
  BlockBuffer buffer;
  Slice stored;
  VARVE_RETURN_IF_ERROR(FetchStoredBlock(file, handle, fetch, &buffer, &stored));
  return UnpackBlock(file, handle, fetch, std::move(buffer), stored, contents);
}

}  // namespace varve
