// SPDX-License-Identifier: Apache-2.0
#pragma once

// Block compression: codecs found by the number that is stored beside each compressed block.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "varve/compression_type.h"
#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

// Where uncompressed bytes go. `alloc` is called at most once, with the size that was declared
// and has been checked; it may return nullptr to refuse, which becomes Status::MemoryLimit.
// The caller owns what it returned, also when the codec fails afterwards.
struct BufferSink {
  char* (*alloc)(void* arg, size_t bytes) = nullptr;
  void* arg = nullptr;
};

// One compression method.
//
// Thread safety: all methods may be called from any thread.
// Lifetime: codecs live as long as the program.
class Codec {
 public:
  virtual ~Codec() = default;
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;

  [[nodiscard]] virtual CompressionType type() const = 0;
  // For messages: "LZ4".
  [[nodiscard]] virtual const char* name() const = 0;

  // Replaces *output by the block form of `input` for format_version 2 and later. `dict` may be
  // empty. False, with *output unspecified, if the codec failed or the input is too large for it;
  // the block is then stored uncompressed. Whether the result is small enough is the caller's
  // decision.
  [[nodiscard]] virtual bool Compress(const CompressionOptions& options, const Slice& dict,
                                      const Slice& input, std::string* output) const = 0;

  // Restores a block of a table of `format_version`. `dict` must be the dictionary it was
  // compressed with. The size that the block declares is checked, before the sink is asked for
  // memory, against `limit_bytes` and against what the codec could produce from so many bytes.
  // On success *result is the sink's buffer, filled.
  //
  // Errors: Corruption for bytes that are no block of this codec or that break a bound;
  // MemoryLimit when the sink refuses.
  virtual Status Uncompress(const Slice& dict, const Slice& input, uint32_t format_version,
                            size_t limit_bytes, BufferSink sink, Slice* result) const = 0;

 protected:
  Codec() = default;
};

// The codec of a stored number; nullptr if it is unknown, not built in, or kNoCompression.
[[nodiscard]] const Codec* FindCodec(CompressionType type);

// True if blocks of this type can be written and read; kNoCompression is always supported.
[[nodiscard]] bool CodecSupported(CompressionType type);

// True if the codec takes dictionaries.
[[nodiscard]] bool CodecSupportsDictionary(CompressionType type);

// "Snappy", "LZ4", ... also for numbers that are not built in; "Unknown" for all others.
[[nodiscard]] const char* CompressionTypeName(CompressionType type);

// NotSupported, naming the codec that `where` (a file name and offset, or an option) asks for.
[[nodiscard]] Status CodecNotSupported(CompressionType type, const Slice& where);

// A dictionary of at most `max_dict_bytes` for zstd from `samples`, which lie back to back with
// the given lengths. Empty if zstd is not built in or the samples do not yield one.
[[nodiscard]] std::string TrainZstdDictionary(const Slice& samples,
                                              const std::vector<size_t>& sample_lengths,
                                              size_t max_dict_bytes);

// As TrainZstdDictionary, but only puts the samples into dictionary form, which takes a small
// part of the training's time. `level` as in CompressionOptions.
[[nodiscard]] std::string FinalizeZstdDictionary(const Slice& samples,
                                                 const std::vector<size_t>& sample_lengths,
                                                 size_t max_dict_bytes, int level);

}  // namespace varve
