// SPDX-License-Identifier: Apache-2.0
#pragma once

// Block codecs and their parameters. The numbers are stored in files.
//
//   options.compression = varve::kZSTD;
//   options.compression_opts.level = 6;
//   options.compression_opts.max_dict_bytes = 16 << 10;  // one dictionary for each table
//
// GetSupportedCompressions (convenience.h) lists the codecs of a build. A codec that it lacks is
// refused with NotSupported: in options when a database is opened, and in a block when that is
// read.

#include <cstdint>

namespace varve {

// Stored in the trailer of each block; never renumber.
enum CompressionType : unsigned char {
  // Stores blocks as they are.
  kNoCompression = 0x00,
  // Snappy has no levels and takes no dictionaries.
  kSnappyCompression = 0x01,
  // Zlib takes levels, window_bits, strategy and dictionaries.
  kZlibCompression = 0x02,
  // BZip2 takes no dictionaries.
  kBZip2Compression = 0x03,
  // LZ4, the default of column families, takes dictionaries, and negative levels for more speed.
  kLZ4Compression = 0x04,
  // LZ4HC has LZ4's format, compresses better, and is slower in writing.
  kLZ4HCCompression = 0x05,
  // Xpress exists on Windows alone, and is never supported.
  kXpressCompression = 0x06,
  // ZSTD takes levels, and dictionaries that may be trained.
  kZSTD = 0x07,
  // In options only: another option makes the choice.
  kDisableCompressionOption = 0xff,
};

// Parameters of a codec. A codec ignores a level or window that it does not have.
struct CompressionOptions {
  // The codec's own default: 3 for ZSTD, 6 for zlib, 9 for LZ4HC, 1 (fastest) for LZ4.
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

  // zlib: base-2 logarithm of the window size; negative: raw deflate. Default: -14.
  int window_bits = -14;

  // Codec-specific compression level. Negative values are LZ4 acceleration.
  int level = kDefaultCompressionLevel;

  // zlib strategy. Default: 0.
  int strategy = 0;

  // Maximum bytes of a dictionary per file; 0: no dictionaries. Default: 0.
  uint32_t max_dict_bytes = 0;

  // ZSTD: bytes of samples for training the dictionary; 0: the samples are the dictionary. Default:
  // 0.
  uint32_t zstd_max_train_bytes = 0;

  // Number of threads, at most 32, that compress a file beside the one that fills it. With 0 a
  // compaction also merges and fills files in the same thread. Files are identical with any number.
  // With a single processor no threads are used unless the number is above 1. Default: 1.
  uint32_t parallel_threads = 1;

  // In `bottommost_compression_opts`: true if its values replace `compression_opts` there.
  bool enabled = false;

  // Limit of uncompressed bytes buffered while samples are collected; 0: the file size.
  uint64_t max_dict_buffer_bytes = 0;

  // ZSTD: uses the full trainer instead of the cheaper finalizer. Default: true.
  bool use_zstd_dict_trainer = true;

  // A block is stored compressed only if it shrinks to at most this many bytes per 1024 raw bytes.
  // 0: no compression; 1024: any gain. Default: 896 (7/8).
  int max_compressed_bytes_per_kb = 1024 * 7 / 8;

  // ZSTD: adds the codec's own content checksum. Default: false.
  bool checksum = false;

  // Requires raw size / compressed size >= min_ratio for storing a block compressed.
  void SetMinRatio(double min_ratio) {
    max_compressed_bytes_per_kb = static_cast<int>(1024.0 / min_ratio + 0.5);
  }
};

}  // namespace varve
