// SPDX-License-Identifier: Apache-2.0
#pragma once

// Block codecs and how hard they try. The numbers are stored in files.

#include <cstdint>

namespace varve {

// Stored in the trailer of each block; never renumber.
enum CompressionType : unsigned char {
  kNoCompression = 0x00,
  kSnappyCompression = 0x01,
  kZlibCompression = 0x02,
  kBZip2Compression = 0x03,
  kLZ4Compression = 0x04,
  kLZ4HCCompression = 0x05,
  kXpressCompression = 0x06,
  kZSTD = 0x07,
  // In options only: "no choice made here, take the other option's".
  kDisableCompressionOption = 0xff,
};

// Parameters for one codec choice. A level or window that a codec lacks is ignored by that codec.
struct CompressionOptions {
  // "The codec's own default": 3 for ZSTD, 6 for zlib, 9 for LZ4HC, 1 (fastest) for LZ4.
  static constexpr int kDefaultCompressionLevel = 32767;

  CompressionOptions() = default;
  CompressionOptions(int wbits, int lev, int strat, uint32_t max_dict, uint32_t zstd_train,
                     uint32_t threads, bool on, uint64_t max_dict_buffer, bool zstd_trainer)
      : window_bits(wbits),
        level(lev),
        strategy(strat),
        max_dict_bytes(max_dict),
        zstd_max_train_bytes(zstd_train),
        parallel_threads(threads),
        enabled(on),
        max_dict_buffer_bytes(max_dict_buffer),
        use_zstd_dict_trainer(zstd_trainer) {}

  // zlib: base-2 logarithm of the window; negative selects raw deflate. Default: -14.
  int window_bits = -14;

  // Codec-specific effort. Negative values are LZ4 acceleration.
  int level = kDefaultCompressionLevel;

  // zlib strategy. Default: 0.
  int strategy = 0;

  // Bytes of a per-file dictionary; 0 disables dictionaries. Default: 0.
  uint32_t max_dict_bytes = 0;

  // ZSTD: bytes of samples to train the dictionary from; 0 uses the samples raw. Default: 0.
  uint32_t zstd_max_train_bytes = 0;

  // Threads that compress a file beside the one that fills it, at most 32. With 0 a compaction also
  // merges and fills files in one thread. The files are the same, byte for byte, with any number;
  // threads are saved where there is one processor only, unless more than 1 is asked. Default: 1.
  uint32_t parallel_threads = 1;

  // For `bottommost_compression_opts`: true when these values replace `compression_opts` there.
  bool enabled = false;

  // Upper bound of uncompressed bytes held back while samples are gathered; 0: the file size.
  uint64_t max_dict_buffer_bytes = 0;

  // ZSTD: full trainer instead of the cheaper finalizer. Default: true.
  bool use_zstd_dict_trainer = true;

  // A block is stored compressed only when it shrinks to at most this many bytes for each 1024
  // raw bytes. 0 turns compression off, 1024 accepts any gain. Default: 896 (7/8).
  int max_compressed_bytes_per_kb = 1024 * 7 / 8;

  // ZSTD: add the codec's own content checksum. Default: false.
  bool checksum = false;

  // Requires raw size / compressed size >= min_ratio.
  void SetMinRatio(double min_ratio) {
    max_compressed_bytes_per_kb = static_cast<int>(1024.0 / min_ratio + 0.5);
  }
};

}  // namespace varve
