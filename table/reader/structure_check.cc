// SPDX-License-Identifier: Apache-2.0

// Checks a table made by others: that its index and its data agree, which is certain for a table
// that we built.

#include <string>

#include "table/block/data_block_cursor.h"
#include "table/reader/block_table_reader.h"
#include "util/base/status_macros.h"
#include "util/env/file_prefetcher.h"

namespace varve {

namespace {

Status Disorder(const char* what, const BlockHandle& handle, const BlockFile& file) {
  return Status::Corruption(std::string(what) + ": block at offset " +
                                std::to_string(handle.offset) + ", size " +
                                std::to_string(handle.size),
                            file.name);
}

// Checks that the index leads from an internal key to the block with this handle.
Status LeadsTo(IndexCursor* cursor, const Slice& key, const BlockHandle& handle,
               const BlockFile& file) {
  cursor->Seek(key);
  VARVE_RETURN_IF_ERROR(cursor->status());
  if (cursor->Valid() && cursor->handle().offset == handle.offset) return Status::OK();
  return Disorder("the index leads a key elsewhere", handle, file);
}

// Walks all entries once and checks them. Bytes that come here have passed their checksum, so the
// checks are for what a wrong or hostile writer could have sealed with a right one. Each block's
// first and last key must be found by way of the index, and each restart point must be an entry's
// beginning, or seeks would miss entries that walks show.
class EntryCheck {
 public:
  EntryCheck(const BlockTableReader& table, const ReadOptions& options,
             const TableReader::TakeEntry& take)
      : table_(table),
        store_(*table.parts().store),
        take_(take),
        prefetcher_(FilePrefetcher::Fixed(options.readahead_size != 0
                                              ? options.readahead_size
                                              : FilePrefetcher::kCompactionReadahead)) {
    context_.options = &options;
    context_.fill_cache = false;
  }

  // Two cursors are on the index: one leads from block to block, the other seeks the keys of the
  // block. `pace` is called after the checks of a block, so that an error of the block comes first.
  Status Run(const TableReader::PaceReads& pace) {
    BlockReadContext read = context_;
    if (!store_.file.mapped) read.prefetcher = &prefetcher_;
    read.prefetch_limit = table_.parts().data_end;
    IndexCursor cursor;
    cursor.Init(table_.parts().index.get(), context_);
    seeker_.Init(table_.parts().index.get(), context_);
    for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next()) {
      const BlockHandle handle = cursor.handle();
      HandleGuard<Block> block;
      VARVE_RETURN_IF_ERROR(store_.Get(handle, /*slot=*/nullptr, read, &block));
      VARVE_RETURN_IF_ERROR(Check(*block, handle));
      if (pace != nullptr) VARVE_RETURN_IF_ERROR(pace(handle.size + kBlockTrailerBytes));
    }
    return cursor.status();
  }

 private:
  Status Check(const Block& block, const BlockHandle& handle);
  // Checks the next restart point, if it lies at or before the entry: it must be the entry's
  // beginning. `it` is on the entry.
  Status CheckRestart(const Block& block, const BlockHandle& handle, const DataBlockCursor& it);

  const BlockTableReader& table_;
  const BlockStore& store_;
  const TableReader::TakeEntry& take_;
  FilePrefetcher prefetcher_;
  BlockReadContext context_;
  IndexCursor seeker_;       // seeks the keys of the block in the index
  DataBlockCursor restart_;  // goes to the restart points of the block
  uint32_t restarts_ = 0;    // number met so far in the block
  bool any_ = false;         // true once last_ is set
  std::string last_;         // the last key in its stored form, also of the block before
  std::string shown_;        // scratch of ShownKey
};

Status EntryCheck::CheckRestart(const Block& block, const BlockHandle& handle,
                                const DataBlockCursor& it) {
  if (restarts_ == block.restart_count() || it.entry_offset() < block.RestartOffset(restarts_)) {
    return Status::OK();
  }
  restart_.SeekToRestart(restarts_++);
  if (restart_.Valid() && restart_.entry_offset() == it.entry_offset() &&
      restart_.key() == it.key()) {
    return Status::OK();
  }
  return Disorder("a restart point is at no entry", handle, store_.file);
}

// The index is asked for the block's first key before the walk and for its last one after it. Order
// is checked across blocks, too, as last_ is kept from block to block.
Status EntryCheck::Check(const Block& block, const BlockHandle& handle) {
  const SequenceNumber override_seq = table_.parts().override_seq;
  DataBlockCursor it;
  it.Init(&block, store_.icmp, override_seq);
  restart_.Init(&block, store_.icmp, override_seq);
  restarts_ = 0;
  it.SeekToFirst();
  const bool has_entries = it.Valid();
  if (has_entries) VARVE_RETURN_IF_ERROR(LeadsTo(&seeker_, it.key(), handle, store_.file));
  for (; it.Valid(); it.Next()) {
    VARVE_RETURN_IF_ERROR(CheckRestart(block, handle, it));
    if (any_ && store_.icmp->Compare(last_, it.key()) >= 0) {
      return Disorder("entries are not in order", handle, store_.file);
    }
    any_ = true;
    last_.assign(it.key().data(), it.key().size());
    Slice shown;
    VARVE_RETURN_IF_ERROR(table_.ShownKey(it.key(), &shown_, &shown));
    VARVE_RETURN_IF_ERROR(take_(shown, it.value()));
  }
  if (it.corrupt()) return MalformedEntry(store_, handle);
  restart_.Clear();
  if (!has_entries) return Status::OK();
  if (restarts_ != block.restart_count()) {
    return Disorder("a restart point is at no entry", handle, store_.file);
  }
  return LeadsTo(&seeker_, last_, handle, store_.file);
}

}  // namespace

// Reads no data block. Blocks must follow each other in the file as in the index, and must not
// overlap: two entries for one block would show its keys twice.
Status BlockTableReader::CheckIndex(const ReadOptions& options) const {
  const BlockStore& store = *parts_.store;
  BlockReadContext context;
  context.options = &options;
  context.fill_cache = false;
  IndexCursor cursor;
  cursor.Init(parts_.index.get(), context);
  std::string last;
  uint64_t end = 0;
  for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next()) {
    const BlockHandle handle = cursor.handle();
    const Slice separator = cursor.leaf().separator(cursor.pos());
    if (handle.offset < end) {
      return Disorder("a data block begins before the one before it ends", handle, store.file);
    }
    if (end != 0) {
      const int order = store.index_form.user_keys ? store.icmp->CompareUserKey(last, separator)
                                                   : store.icmp->Compare(last, separator);
      if (order >= 0) return Disorder("separators of the index do not ascend", handle, store.file);
    }
    last.assign(separator.data(), separator.size());
    end = handle.offset + handle.size + kBlockTrailerBytes;
  }
  return cursor.status();
}

Status BlockTableReader::CheckEntries(const ReadOptions& options, const TakeEntry& take,
                                      const PaceReads& pace) const {
  VARVE_RETURN_IF_ERROR(CheckIndex(options));
  return EntryCheck(*this, options, take).Run(pace);
}

}  // namespace varve
