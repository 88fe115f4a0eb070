// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds what a version knows of its blob files: the file, its garbage, and who refers to it.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "db/version/blob_file_facts.h"
#include "db/version/file_metadata.h"

namespace varve {

class BlobFileReader;

// A blob file on disk, shared by all versions that have it. When the last of them is released and a
// logged edit has removed the file, it goes to the obsolete-file queue, as tables do.
//
// Thread safety: constant, except for the reader, which is published once.
class BlobFile {
 public:
  BlobFile(BlobFileFacts facts, FileRef file) : facts_(std::move(facts)), file_(std::move(file)) {}
  BlobFile(const BlobFile&) = delete;
  BlobFile& operator=(const BlobFile&) = delete;
  ~BlobFile();

  // Returns what the MANIFEST says of the file.
  const BlobFileFacts& facts() const { return facts_; }
  uint64_t number() const { return facts_.number; }
  // Returns the metadata that has the file's name, and tells whether an edit has removed it.
  const FileRef& file() const { return file_; }

  // Returns the open reader; null: the file is not open.
  const BlobFileReader* reader() const { return reader_.load(std::memory_order_acquire); }
  // Publishes a reader, unless another thread was faster. Returns the one that is kept.
  const BlobFileReader* Publish(std::unique_ptr<BlobFileReader> reader) const;

 private:
  const BlobFileFacts facts_;
  // Keeps the name, and tells whether the file is obsolete.
  const FileRef file_;                                    // outlives the reader
  mutable std::atomic<BlobFileReader*> reader_{nullptr};  // owned
};

using BlobFilesByNumber = std::unordered_map<uint64_t, std::shared_ptr<const BlobFile>>;

// A blob file as one version sees it.
struct BlobFileState {
  std::shared_ptr<const BlobFile> blobs;
  // Values that no table refers to any more, as far as edits have counted them; never more than
  // count().
  uint64_t garbage_count = 0;
  uint64_t garbage_bytes = 0;
  uint64_t linked_tables = 0;  // tables whose oldest blob file it is

  uint64_t number() const { return blobs->number(); }
  // Returns the number of values in the file, garbage included.
  uint64_t count() const { return blobs->facts().count; }
  // Returns the bytes of all records; FileSize() adds header and footer.
  uint64_t bytes() const { return blobs->facts().bytes; }
  uint64_t FileSize() const { return blobs->facts().FileSize(); }
};

// The blob files of a version, by ascending number.
class BlobFiles {
 public:
  BlobFiles() = default;
  // Requires ascending numbers.
  explicit BlobFiles(std::vector<BlobFileState> files) : files_(std::move(files)) {}

  bool empty() const { return files_.empty(); }
  size_t size() const { return files_.size(); }
  // Returns the file with this index; the oldest is first.
  const BlobFileState& operator[](size_t i) const { return files_[i]; }
  auto begin() const { return files_.begin(); }
  auto end() const { return files_.end(); }
  // Returns the file with this number; null if the version does not have it.
  const BlobFileState* Find(uint64_t number) const {
    const auto found = std::ranges::lower_bound(files_, number, {}, &BlobFileState::number);
    return found == files_.end() || found->number() != number ? nullptr : &*found;
  }

 private:
  std::vector<BlobFileState> files_;
};

}  // namespace varve
