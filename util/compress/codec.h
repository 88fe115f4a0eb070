// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares block compression: codecs are found by the number that is stored with each compressed
// block.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "varve/compression_type.h"
#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

// The destination of uncompressed bytes. `alloc` is called at most once, with the declared and
// checked size; it may return nullptr to refuse, which becomes Status::MemoryLimit. The caller owns
// what it returned, also if the codec fails afterwards.
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
  // Returns the name for messages, such as "LZ4".
  [[nodiscard]] virtual const char* name() const = 0;

  // Replaces *output by the block form of `input` for format_version 2 and later. `dict` may be
  // empty. Returns false, with *output unspecified, if the codec failed or the input is too large
  // for it; the block is then stored uncompressed. The caller decides if the result is small
  // enough.
  [[nodiscard]] virtual bool Compress(const CompressionOptions& options, const Slice& dict,
                                      const Slice& input, std::string* output) const = 0;

  // Restores a block of a table of `format_version`. Requires that `dict` is the dictionary it was
  // compressed with. The declared size is checked, before the sink is asked for memory, against
  // `limit_bytes` and against the most that the codec could produce from so short an input. On
  // success *result is the sink's buffer, filled.
  //
  // Errors: Corruption for bytes that are no block of this codec or that break a bound;
  // NotSupported if tables of that version do not store the size; MemoryLimit if the sink refuses
  // or there is no memory for the codec itself.
  virtual Status Uncompress(const Slice& dict, const Slice& input, uint32_t format_version,
                            size_t limit_bytes, BufferSink sink, Slice* result) const = 0;

 protected:
  Codec() = default;
};

// Returns the codec of a stored number; nullptr if it is unknown, not built in, or kNoCompression.
[[nodiscard]] const Codec* FindCodec(CompressionType type);

// True if blocks of this type can be written and read; kNoCompression is always supported.
[[nodiscard]] bool CodecSupported(CompressionType type);

// True if the codec takes dictionaries.
[[nodiscard]] bool CodecSupportsDictionary(CompressionType type);

// Returns "Snappy", "LZ4", ... also for codecs that are not built in; "Unknown" for all other
// numbers.
[[nodiscard]] const char* CompressionTypeName(CompressionType type);

// Returns NotSupported, naming the codec that `where` (a file name and offset, or an option) asks
// for.
[[nodiscard]] Status CodecNotSupported(CompressionType type, const Slice& where);

// Returns a zstd dictionary of at most `max_dict_bytes` made from `samples`, which are concatenated
// and have the given lengths. Returns an empty string if zstd is not built in or the samples do not
// yield one.
[[nodiscard]] std::string TrainZstdDictionary(const Slice& samples,
                                              const std::vector<size_t>& sample_lengths,
                                              size_t max_dict_bytes);

// Like TrainZstdDictionary, but only puts the samples into dictionary form, which takes a small
// part of the training's time. `level` is that of CompressionOptions.
[[nodiscard]] std::string FinalizeZstdDictionary(const Slice& samples,
                                                 const std::vector<size_t>& sample_lengths,
                                                 size_t max_dict_bytes, int level);

}  // namespace varve
