// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes a finished block to the file: compression if it pays, checksum, one append. The two halves
// can be called separately, because compression, which is expensive, needs no order among blocks.
//
//      Pack          data -> Packed: compressed bytes in *scratch, or `data` itself      any thread
//      AppendData    zeros up to a super block, bytes, trailer: type and checksum        in order
//
// The trailer is written right behind the bytes in memory, so that a block is one append. This is
// why all buffers have room for kBlockTrailerBytes at their end.

#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/compression_type.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/table.h"

#include "table/format/block_handle.h"
#include "util/compress/codec.h"
#include "util/env/writable_file_writer.h"

namespace varve {

class Statistics;

// Thread safety: Pack may be called from any thread at any time; the other methods by one thread at
// a time. Ownership: borrows the file and every pointer of the options.
class BlockWriter {
 public:
  struct Options {
    ChecksumType checksum = kXXH3;
    uint32_t format_version = 5;
    uint32_t base_context_checksum = 0;  // used by ChecksumModifier; 0 before format version 6
    CompressionType compression = kNoCompression;
    CompressionOptions compression_opts;
    bool verify_compression = false;
    // A data block that would cross the end of a super block is preceded by zeros up to that end,
    // unless these were more than `padding_max`. A power of two; 0: there are no super blocks.
    uint64_t super_block = 0;
    uint64_t padding_max = 0;
    Statistics* statistics = nullptr;
  };

  // The form in which a block was stored.
  enum class Outcome : uint8_t {
    kPlain,  // written uncompressed, as compression was not requested
    kCompressed,
    kRejected,  // compression did not pay
  };

  // A block as it will lie in the file, followed by kBlockTrailerBytes of room.
  struct Packed {
    char* data = nullptr;
    size_t size = 0;
    CompressionType type = kNoCompression;
    Outcome outcome = Outcome::kPlain;
  };

  BlockWriter(const Options& options, WritableFileWriter* file);

  // Compresses the block of `size` bytes at `data` into *scratch if that pays, and sets *packed,
  // which refers to `data` or to *scratch. Requires that `data` is followed by room for
  // kBlockTrailerBytes. `dictionary` may be empty. InvalidArgument: the block exceeds
  // kBlockBytesMax. Corruption: with verify_compression, the block does not come out again.
  Status Pack(char* data, size_t size, const Slice& dictionary, std::string* scratch,
              Packed* packed) const;
  // Appends a packed data block, and sets *handle to where it lies. Writes the trailer into the
  // room behind packed.data.
  Status AppendData(const Packed& packed, BlockHandle* handle);

  // Calls Pack, then AppendData. Sets *handle and *outcome. `data` is as for Pack, here and in the
  // next two calls.
  Status WriteData(char* data, size_t size, const Slice& dictionary, BlockHandle* handle,
                   Outcome* outcome);
  // Writes a block that is not a data block: it is compressed without the dictionary, and not
  // aligned.
  Status WriteCompressible(char* data, size_t size, BlockHandle* handle);
  // Writes the block uncompressed.
  Status WritePlain(char* data, size_t size, BlockHandle* handle) {
    return Append(data, size, kNoCompression, handle);
  }
  // Does the same with a block in a string, which grows by the trailer.
  Status WritePlain(std::string* block, BlockHandle* handle);
  // Writes bytes that are not a block, without a trailer.
  Status AppendRaw(const Slice& bytes);
  // Writes zeros up to the next multiple of `alignment`, a power of two.
  Status PadTo(uint64_t alignment);

  [[nodiscard]] const std::string& file_name() const { return file_->file_name(); }
  [[nodiscard]] bool compresses() const { return codec_ != nullptr; }
  // Returns the most bytes that may precede a data block.
  [[nodiscard]] uint64_t padding_max() const { return options_.padding_max; }
  // Returns the number of bytes written, which is the offset of the next block.
  [[nodiscard]] uint64_t offset() const { return offset_; }
  // Bit t is set if a block was written with compression type t.
  [[nodiscard]] uint32_t types_used() const { return types_used_; }

 private:
  // Appends a block with its trailer, and sets the handle.
  Status Append(char* data, size_t size, CompressionType type, BlockHandle* handle);
  // Uncompresses `compressed` and compares the result with `raw`. Corruption: they differ, or it
  // cannot be uncompressed.
  Status Verify(const Slice& raw, const Slice& dictionary, const Slice& compressed) const;

  const Options options_;
  WritableFileWriter* const file_;
  const Codec* const codec_;  // null: no compression
  uint64_t offset_ = 0;
  uint32_t types_used_ = 0;
  std::string compressed_;
};

}  // namespace varve
