// SPDX-License-Identifier: Apache-2.0
#pragma once

// The way of a finished block into the file: compression where it pays, checksum, one append.

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

// Thread safety: none. Ownership: borrows the file and every pointer of the options.
class BlockWriter {
 public:
  struct Options {
    ChecksumType checksum = kXXH3;
    uint32_t format_version = 5;
    uint32_t base_context_checksum = 0;  // of ChecksumModifier; 0 before format version 6
    CompressionType compression = kNoCompression;
    CompressionOptions compression_opts;
    bool verify_compression = false;
    Statistics* statistics = nullptr;
  };

  enum class Outcome : uint8_t {
    kPlain,  // written as it was, compression not being asked for
    kCompressed,
    kRejected,  // compression did not pay
  };

  BlockWriter(const Options& options, WritableFileWriter* file);

  // Writes `size` bytes at `data`, behind which there is room for kBlockTrailerBytes, compressed
  // if that pays.
  Status WriteCompressible(char* data, size_t size, const Slice& dictionary, BlockHandle* handle,
                           Outcome* outcome);
  // Writes them as they are.
  Status WritePlain(char* data, size_t size, BlockHandle* handle) {
    return Append(data, size, kNoCompression, handle);
  }
  // The same for a block in a string, whose end serves as room for the trailer.
  Status WritePlain(std::string* block, BlockHandle* handle);
  // Writes bytes that are no block.
  Status AppendRaw(const Slice& bytes);
  // Writes zeros up to the next multiple of `alignment`, a power of two.
  Status PadTo(uint64_t alignment);

  [[nodiscard]] const std::string& file_name() const { return file_->file_name(); }
  [[nodiscard]] bool compresses() const { return codec_ != nullptr; }
  // Bytes written: where the next block will lie.
  [[nodiscard]] uint64_t offset() const { return offset_; }
  // Bit t is set if a block was written with compression type t.
  [[nodiscard]] uint32_t types_used() const { return types_used_; }

 private:
  Status Append(char* data, size_t size, CompressionType type, BlockHandle* handle);
  Status Verify(const Slice& raw, const Slice& dictionary) const;

  const Options options_;
  WritableFileWriter* const file_;
  const Codec* const codec_;  // null: no compression
  uint64_t offset_ = 0;
  uint32_t types_used_ = 0;
  std::string compressed_;
};

}  // namespace varve
