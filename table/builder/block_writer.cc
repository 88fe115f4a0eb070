// SPDX-License-Identifier: Apache-2.0

// Compresses, verifies and appends blocks.

#include "table/builder/block_writer.h"

#include <bit>
#include <cstring>
#include <memory>

#include "varve/statistics.h"

#include "table/format/block_trailer.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/key/entry_limits.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"

namespace varve {
namespace {

const Codec* CodecFor(const BlockWriter::Options& options) {
  const bool wanted = options.compression != kNoCompression &&
                      options.compression_opts.max_compressed_bytes_per_kb > 0;
  return wanted ? FindCodec(options.compression) : nullptr;
}

// Allocates memory for one uncompressed block.
char* AllocateBuffer(void* arg, size_t bytes) {
  auto* const buffer = static_cast<std::unique_ptr<char[]>*>(arg);
  buffer->reset(new char[bytes]);
  return buffer->get();
}

// Returns an error for a block size that readers reject.
Status CheckSize(const WritableFileWriter& file, uint64_t size) {
  if (size <= kBlockBytesMax) [[likely]]
    return Status::OK();
  return Status::InvalidArgument(file.file_name(),
                                 "a block of " + std::to_string(size) + " bytes is too large");
}

}  // namespace

BlockWriter::BlockWriter(const Options& options, WritableFileWriter* file)
    : options_(options), file_(file), codec_(CodecFor(options)) {}

// Touches nothing of the object but constants, as threads of the pipeline run it at once.
Status BlockWriter::Pack(char* data, size_t size, const Slice& dictionary, std::string* scratch,
                         Packed* packed) const {
  VARVE_RETURN_IF_ERROR(CheckSize(*file_, size));
  *packed = Packed{data, size};
  Statistics* const statistics = options_.statistics;
  if (codec_ == nullptr) {
    RecordTick(statistics, NUMBER_BLOCK_COMPRESSION_BYPASSED);
    RecordTick(statistics, BYTES_COMPRESSION_BYPASSED, size);
    return Status::OK();
  }

  const Slice raw(data, size);
  const TimeIfWanted time(statistics, COMPRESSION_TIMES_NANOS, SystemClock::Default().get());
  const bool pays = codec_->Compress(options_.compression_opts, dictionary, raw, scratch) &&
                    CompressedSizePays(options_.compression_opts, size, scratch->size());
  if (time.wanted()) RecordTimeToHistogram(statistics, COMPRESSION_TIMES_NANOS, time.Nanos());
  if (!pays) {
    packed->outcome = Outcome::kRejected;
    RecordTick(statistics, NUMBER_BLOCK_COMPRESSION_REJECTED);
    RecordTick(statistics, BYTES_COMPRESSION_REJECTED, size);
    return Status::OK();
  }
  if (options_.verify_compression) {
    VARVE_RETURN_IF_ERROR(Verify(raw, dictionary, Slice(*scratch)));
  }
  if (statistics != nullptr) {
    RecordTick(statistics, NUMBER_BLOCK_COMPRESSED);
    RecordTick(statistics, BYTES_COMPRESSED_FROM, size);
    RecordTick(statistics, BYTES_COMPRESSED_TO, scratch->size());
  }
  const size_t compressed_size = scratch->size();
  // Room for the trailer, behind the compressed bytes.
  scratch->resize(compressed_size + kBlockTrailerBytes);
  *packed = Packed{scratch->data(), compressed_size, options_.compression, Outcome::kCompressed};
  return Status::OK();
}

Status BlockWriter::WriteData(char* data, size_t size, const Slice& dictionary, BlockHandle* handle,
                              Outcome* outcome) {
  Packed packed;
  VARVE_RETURN_IF_ERROR(Pack(data, size, dictionary, &compressed_, &packed));
  *outcome = packed.outcome;
  return AppendData(packed, handle);
}

Status BlockWriter::WriteCompressible(char* data, size_t size, BlockHandle* handle) {
  Packed packed;
  VARVE_RETURN_IF_ERROR(Pack(data, size, Slice(), &compressed_, &packed));
  return Append(packed.data, packed.size, packed.type, handle);
}

Status BlockWriter::AppendData(const Packed& packed, BlockHandle* handle) {
  if (options_.super_block != 0) {
    VARVE_ASSERT(options_.padding_max <= options_.super_block);
    const uint64_t left = options_.super_block - (offset_ & (options_.super_block - 1));
    const uint64_t needed = packed.size + kBlockTrailerBytes;
    // A block that is larger than a super block crosses a border in any case.
    if (needed > left && needed <= options_.super_block && left <= options_.padding_max) {
      VARVE_RETURN_IF_ERROR(PadTo(options_.super_block));
    }
  }
  return Append(packed.data, packed.size, packed.type, handle);
}

Status BlockWriter::WritePlain(std::string* block, BlockHandle* handle) {
  const size_t size = block->size();
  block->resize(size + kBlockTrailerBytes);
  return Append(block->data(), size, kNoCompression, handle);
}

Status BlockWriter::AppendRaw(const Slice& bytes) {
  VARVE_RETURN_IF_ERROR(file_->Append(bytes));
  offset_ += bytes.size();
  return Status::OK();
}

Status BlockWriter::PadTo(uint64_t alignment) {
  VARVE_ASSERT(std::has_single_bit(alignment));
  const uint64_t used = offset_ & (alignment - 1);
  if (used == 0) return Status::OK();
  return AppendRaw(Slice(std::string(static_cast<size_t>(alignment - used), '\0')));
}

Status BlockWriter::Append(char* data, size_t size, CompressionType type, BlockHandle* handle) {
  const StopWatch watch(SystemClock::Default().get(), options_.statistics, WRITE_RAW_BLOCK_MICROS,
                        kExceptTimeForMutex);
  VARVE_RETURN_IF_ERROR(CheckSize(*file_, size));
  handle->offset = offset_;
  handle->size = size;
  EncodeBlockTrailer(options_.checksum, options_.base_context_checksum, offset_, Slice(data, size),
                     type, data + size);
  types_used_ |= 1u << (type & 31);
  return AppendRaw(Slice(data, size + kBlockTrailerBytes));
}

// Guards against faults of a codec or of memory, while the raw bytes are still at hand.
Status BlockWriter::Verify(const Slice& raw, const Slice& dictionary,
                           const Slice& compressed) const {
  std::unique_ptr<char[]> buffer;
  Slice restored;
  const Status s = codec_->Uncompress(dictionary, compressed, options_.format_version, raw.size(),
                                      BufferSink{AllocateBuffer, &buffer}, &restored);
  if (s.ok() && restored.size() == raw.size() &&
      std::memcmp(restored.data(), raw.data(), raw.size()) == 0) {
    return Status::OK();
  }
  return Status::Corruption(file_->file_name(),
                            std::string("a block does not survive compression with ") +
                                codec_->name() +
                                (s.ok() ? ": the bytes differ" : ": " + s.ToString()));
}

}  // namespace varve
