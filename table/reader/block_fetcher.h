// SPDX-License-Identifier: Apache-2.0
#pragma once

// Brings one block from its file into memory: reads, checks and uncompresses it.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/file_system.h"
#include "varve/memory_allocator.h"
#include "varve/slice.h"
#include "varve/status.h"

#include "table/block/block_contents.h"
#include "table/format/block_handle.h"
#include "table/format/footer.h"
#include "util/env/random_access_file_reader.h"

namespace varve {

class FilePrefetcher;

// Holds what is the same for all blocks of a file. The members are set when the table is opened;
// the dictionary as soon as its block was read.
struct BlockFile {
  const RandomAccessFileReader* reader = nullptr;
  std::string name;    // used in messages
  uint64_t limit = 0;  // blocks lie before this offset, which is the footer's
  Footer footer;
  bool mapped = false;     // reads return memory that lives as long as the file
  std::string dictionary;  // used for data blocks
};

// Arguments of one read of a block.
struct BlockFetch {
  bool verify_checksum = true;
  bool use_dictionary = false;
  BlockRoom room;  // room for the result
  // True if the stored block is probably compressed: then it is not read to its final place.
  bool expect_compressed = false;
  FilePrefetcher* prefetcher = nullptr;
  uint64_t prefetch_limit = 0;  // nothing is read ahead from this offset on
  Statistics* statistics = nullptr;
  IOOptions io;
  // Time since the clock's epoch after which the file is not read any more. 0: there is none.
  std::chrono::microseconds deadline{0};
  // Bytes of the file that are in memory already, and their offset.
  Slice preread;
  uint64_t preread_offset = 0;
  // Owner of `preread`, if that is one block; the result may take it over. May be null.
  BlockBuffer* preread_buffer = nullptr;
  // True if `preread` is the end of the file, for a table that is being opened.
  bool preread_is_tail = false;
};

// Returns "name, block at offset N".
[[nodiscard]] std::string DescribeBlock(const BlockFile& file, const BlockHandle& handle);

// Fetches a block into contents->data; contents->buffer owns the bytes, or is null for a mapped
// file, and contents->was_compressed is set to true for a compressed block. Requires a new
// `contents`. Tests the checksum before any byte of the block is used, unless fetch.verify_checksum
// is false. Allocates no more than the file holds, and to uncompress, no more than the codec can
// make of that; in either case at most kBlockBytesMax.
//
// Errors name file and offset. Corruption: the handle reaches beyond file.limit, the block is too
// large, its checksum differs, or it cannot be uncompressed. NotSupported: this build lacks the
// codec. MemoryLimit: there is no memory. TimedOut: fetch.deadline has passed. Otherwise the error
// of the read.
Status FetchBlock(const BlockFile& file, const BlockHandle& handle, const BlockFetch& fetch,
                  BlockContents* contents);

// Reads the block and its trailer as stored, unchecked. *stored points into *buffer, which must be
// null before, or into memory of the mapped file (valid as long as that), of the prefetcher (until
// its next use) or of fetch.preread. Takes *fetch.preread_buffer over into *buffer if that is where
// the block lies.
Status FetchStoredBlock(const BlockFile& file, const BlockHandle& handle, const BlockFetch& fetch,
                        BlockBuffer* buffer, Slice* stored);

// True if the stored form, which FetchStoredBlock has read, has the right checksum. Counts the
// check in fetch.statistics.
bool IsIntact(const BlockFile& file, const BlockHandle& handle, const BlockFetch& fetch,
              const Slice& stored);

// Does the part of FetchBlock that follows FetchStoredBlock, whose results are `buffer` and
// `stored`. `buffer` may be null.
Status UnpackBlock(const BlockFile& file, const BlockHandle& handle, const BlockFetch& fetch,
                   BlockBuffer buffer, const Slice& stored, BlockContents* contents);

}  // namespace varve
