// SPDX-License-Identifier: Apache-2.0
#pragma once

// Passes entries from the merge to the table builder: they are copied into chunks, which a second
// thread empties, so that merging and building run in parallel.
//
//      merge thread   --Add--> [filling] [full] [full] [being taken] --take--> builder's thread
//                                 4 chunks of 512 KiB, used in turn
//
// The copy costs less than it saves: the slices of the merge are valid only until its next step,
// and a builder that compresses is often the slower half. Chunks are so large that the threads
// seldom wake each other: with chunks of 128 KiB, each of which holds three values of 32 KiB, a
// compaction of such values took a quarter longer. Sync is a meeting point: when it returns,
// the builder has seen everything, and the merge thread may use the builder itself, for instance to
// end a table.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>

#include "varve/slice.h"
#include "varve/status.h"

#include "util/base/status_macros.h"
#include "util/sync/ordered_pipeline.h"

namespace varve {

// A chunk of contiguous entries. Here and in EntryPipeline, keys are internal keys.
//
// Thread safety: none.
class EntryChunk {
 public:
  // Returns false for an entry that does not fit into an empty chunk and should not be copied.
  [[nodiscard]] static bool CanHold(const Slice& key, const Slice& value) {
    return sizeof(Header) + key.size() + value.size() <= kBytes;
  }
  // True if the entry fits behind those in the chunk.
  [[nodiscard]] bool HasRoomFor(const Slice& key, const Slice& value) const {
    return sizeof(Header) + key.size() + value.size() <= kBytes - size_;
  }
  // Copies an entry. Requires HasRoomFor.
  void Add(const Slice& key, const Slice& value, bool starts_user_key) {
    const Header header{static_cast<uint32_t>(key.size()), static_cast<uint32_t>(value.size()),
                        starts_user_key};
    char* p = bytes_.get() + size_;
    std::memcpy(p, &header, sizeof(header));
    p += sizeof(header);
    std::memcpy(p, key.data(), key.size());
    if (!value.empty()) std::memcpy(p + key.size(), value.data(), value.size());
    size_ += sizeof(header) + key.size() + value.size();
  }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  // Makes the chunk empty; its memory stays.
  void Clear() { size_ = 0; }

  // Calls take(key, value, starts_user_key) for each entry until a call fails.
  template <typename Take>
  Status ForEach(Take&& take) const {
    const char* const end = bytes_.get() + size_;
    for (const char* p = bytes_.get(); p != end;) {
      Header header;
      std::memcpy(&header, p, sizeof(header));
      p += sizeof(header);
      const Slice key(p, header.key_size);
      p += header.key_size;
      const Slice value(p, header.value_size);
      p += header.value_size;
      VARVE_RETURN_IF_ERROR(take(key, value, header.starts_user_key));
    }
    return Status::OK();
  }

 private:
  // Size of a chunk.
  static constexpr size_t kBytes = 512 << 10;

  // Precedes each entry; it is copied, because it need not be aligned.
  struct Header {
    uint32_t key_size;
    uint32_t value_size;
    bool starts_user_key;
  };

  std::unique_ptr<char[]> bytes_ = std::make_unique_for_overwrite<char[]>(kBytes);
  size_t size_ = 0;
};

// Thread safety: one thread makes all calls. Chunks are taken in order, by the pipeline's thread,
// or by the caller's if the system gives no thread. Errors: the first error of `take`, or Aborted
// for an exception, is kept; later entries are dropped.
class EntryPipeline {
 public:
  using Take = std::function<Status(const EntryChunk&)>;

  // Starts the thread, which calls `take` for each chunk.
  explicit EntryPipeline(Take take);

  // Returns false if taking has failed: then no more is wanted. Requires that a chunk can hold the
  // entry.
  bool Add(const Slice& key, const Slice& value, bool starts_user_key) {
    if (!filling_->HasRoomFor(key, value)) [[unlikely]] {
      if (!HandOver()) return false;
    }
    filling_->Add(key, value, starts_user_key);
    return true;
  }
  // Waits until everything is taken. Nothing is taken until the next Add.
  Status Sync();
  // Ends the thread; must be called after Sync. Returns its processor time in microseconds.
  uint64_t Stop() { return pipeline_.Stop(); }

 private:
  // One is filled and one emptied; the others compensate for differences in work.
  static constexpr size_t kChunks = 4;

  // Gives the full chunk to the thread, and waits for an empty one. Returns false if taking has
  // failed.
  bool HandOver();

  const Take take_;
  std::array<EntryChunk, kChunks> chunks_;
  EntryChunk* filling_ = chunks_.data();
  OrderedPipeline pipeline_;  // destroyed first, as its thread takes chunks
};

}  // namespace varve
