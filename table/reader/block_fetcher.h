// SPDX-License-Identifier: Apache-2.0
#pragma once

// Brings one block from its file into memory: read, check, uncompress.

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

// What is the same for all blocks of a file.
struct BlockFile {
  const RandomAccessFileReader* reader = nullptr;
  std::string name;    // for messages
  uint64_t limit = 0;  // blocks lie before this offset: the footer's
  Footer footer;
  bool mapped = false;     // reads return memory that lives as long as the file
  std::string dictionary;  // of data blocks
};

struct BlockFetch {
  bool verify_checksum = true;
  bool use_dictionary = false;
  BlockRoom room;  // of the result
  // What is read will be uncompressed, as far as one knows: it is not read to where it stays.
  bool expect_compressed = false;
  FilePrefetcher* prefetcher = nullptr;
  uint64_t prefetch_limit = 0;  // nothing from here on is read ahead
  Statistics* statistics = nullptr;
  IOOptions io;
  // Since the clock's epoch: later the file is not read any more. 0: none.
  std::chrono::microseconds deadline{0};
  // Bytes of the file that are in memory already, and where they start.
  Slice preread;
  uint64_t preread_offset = 0;
  // Nullable: owns `preread`, if that is one block; the result may take it over.
  BlockBuffer* preread_buffer = nullptr;
  // They are the file's end, of a table that is being opened.
  bool preread_is_tail = false;
};

// "name, block at offset N".
[[nodiscard]] std::string DescribeBlock(const BlockFile& file, const BlockHandle& handle);

// The checksum is tested before a byte of the block is used. Memory is taken for no more than the
// file holds, and to uncompress, for no more than the codec can make of that; of either at most
// kBlockBytesMax.
//
// Errors, each naming file and offset: Corruption; NotSupported for an unknown codec; MemoryLimit;
// and what reading gives.
Status FetchBlock(const BlockFile& file, const BlockHandle& handle, const BlockFetch& fetch,
                  BlockContents* contents);

// The block and its trailer as stored, unchecked. *stored points into *buffer or into memory that
// lives as long as the file, the prefetcher or fetch.preread.
Status FetchStoredBlock(const BlockFile& file, const BlockHandle& handle, const BlockFetch& fetch,
                        BlockBuffer* buffer, Slice* stored);

// Whether the stored form has the checksum that it should have. Counted.
bool IsIntact(const BlockFile& file, const BlockHandle& handle, const BlockFetch& fetch,
              const Slice& stored);

// The stored form to the uncompressed one; `buffer` owns what `stored` points to, or is null.
Status UnpackBlock(const BlockFile& file, const BlockHandle& handle, const BlockFetch& fetch,
                   BlockBuffer buffer, const Slice& stored, BlockContents* contents);

}  // namespace varve
