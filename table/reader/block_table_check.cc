// SPDX-License-Identifier: Apache-2.0

// Checks every checksum of a table, and salvages what is left of a damaged table.

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "table/block/data_block_cursor.h"
#include "table/reader/block_table_reader.h"
#include "util/base/status_macros.h"
#include "util/env/file_prefetcher.h"

namespace varve {

namespace {

uint64_t StoredBytes(const BlockHandle& handle) {
  return handle.size + kBlockTrailerBytes;
}

}  // namespace

// Checks the footer again: its bytes may have changed since the table was opened.
Status BlockTableReader::VerifyFooter() const {
  const BlockFile& file = parts_.store->file;
  const size_t length = file.footer.length();
  std::string buffer(length, '\0');
  Slice bytes;
  VARVE_RETURN_IF_ERROR(file.reader->Read(file.limit, length, &bytes, buffer.data()));
  Footer now;
  Status s = bytes.size() == length ? now.DecodeFrom(bytes, file.limit)
                                    : Status::Corruption("the file has become shorter");
  if (s.ok() &&
      (now.format_version != file.footer.format_version || now.checksum != file.footer.checksum ||
       now.metaindex.offset != file.footer.metaindex.offset ||
       now.metaindex.size != file.footer.metaindex.size ||
       now.index.offset != file.footer.index.offset || now.index.size != file.footer.index.size)) {
    s = Status::Corruption("the footer is not what it was when the table was opened");
  }
  return s.ok() ? s : Status::CopyAppendMessage(s, ": footer of ", file.name);
}

// Lists also what this reader does not use: a check of the file must not pass over a block only
// because the options ignore it.
Status BlockTableReader::ListMetaBlocks(const BlockReadContext& context,
                                        std::vector<BlockHandle>* handles) const {
  *handles = parts_.meta_blocks;
  if (parts_.filter != nullptr) {
    VARVE_RETURN_IF_ERROR(parts_.filter->ListBlocks(context, handles));
  } else if (parts_.unused_filter.partitioned && !parts_.unused_filter.root.IsNull()) {
    // This root was never checked, so it is verified before its bytes are interpreted.
    VARVE_RETURN_IF_ERROR(parts_.store->Verify(parts_.unused_filter.root, context));
    FilterReader::Options options = parts_.unused_filter;
    options.residency = MetaResidency::kOwned;
    options.pin_partitions = false;
    std::unique_ptr<FilterReader> filter;
    VARVE_RETURN_IF_ERROR(FilterReader::Open(parts_.store.get(), options, context, &filter));
    VARVE_RETURN_IF_ERROR(filter->ListBlocks(context, handles));
  } else if (!parts_.unused_filter.root.IsNull()) {
    handles->push_back(parts_.unused_filter.root);
  }
  handles->push_back(parts_.index->root_handle());
  if (!parts_.index->two_level()) return Status::OK();
  HandleGuard<DecodedIndex> root;
  VARVE_RETURN_IF_ERROR(parts_.index->GetRoot(context, &root));
  for (size_t i = 0; i < root->size(); i++) handles->push_back(root->handle(i));
  return Status::OK();
}

// Reads ahead, except in a mapped file. The first block that does not verify ends the reading with
// its error.
Status BlockTableReader::VerifyDataBlocks(const BlockReadContext& context,
                                          const PaceReads& pace) const {
  FilePrefetcher prefetcher = FilePrefetcher::Fixed(context.options->readahead_size != 0
                                                        ? context.options->readahead_size
                                                        : FilePrefetcher::kCompactionReadahead);
  BlockReadContext read = context;
  if (!parts_.store->file.mapped) read.prefetcher = &prefetcher;
  read.prefetch_limit = parts_.data_end;
  IndexCursor cursor;
  cursor.Init(parts_.index.get(), context);
  for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next()) {
    VARVE_RETURN_IF_ERROR(parts_.store->Verify(cursor.handle(), read));
    if (pace != nullptr) VARVE_RETURN_IF_ERROR(pace(StoredBytes(cursor.handle())));
  }
  return cursor.status();
}

Status BlockTableReader::VerifyChecksum(const ReadOptions& options, const PaceReads& pace) const {
  BlockReadContext context;
  context.options = &options;
  context.fill_cache = false;
  VARVE_RETURN_IF_ERROR(VerifyFooter());
  std::vector<BlockHandle> handles;
  VARVE_RETURN_IF_ERROR(ListMetaBlocks(context, &handles));
  for (const BlockHandle& handle : handles) {
    VARVE_RETURN_IF_ERROR(parts_.store->Verify(handle, context));
    if (pace != nullptr) VARVE_RETURN_IF_ERROR(pace(StoredBytes(handle)));
  }
  return VerifyDataBlocks(context, pace);
}

// Keys stored without timestamps are shown with the oldest one.
Status BlockTableReader::ShownKey(const Slice& key, std::string* scratch, Slice* shown) const {
  *shown = key;
  if (!lacks_timestamps()) return Status::OK();
  ParsedInternalKey parsed;
  if (!ParseInternalKey(key, &parsed)) return DescribeBadInternalKey(key, parts_.store->file.name);
  scratch->clear();
  AppendInternalKey(scratch, parts_.family_order->LastUserKey(parsed.user_key), parsed.sequence,
                    parsed.type);
  *shown = *scratch;
  return Status::OK();
}

// A damaged block costs its entries and no others, as the index leads past it. An index that cannot
// be read any further ends the walk with what was found.
Status BlockTableReader::Salvage(const TakeEntry& take, SalvageCount* count) const {
  const ReadOptions options;
  BlockReadContext context;
  context.options = &options;
  context.fill_cache = false;
  const auto lose = [count](const Status& why, uint64_t bytes) {
    if (count->lost_blocks++ == 0) count->first_error = why;
    count->lost_bytes += bytes;
  };
  std::string whole_key;
  IndexCursor cursor;
  cursor.Init(parts_.index.get(), context);
  for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next()) {
    const BlockHandle handle = cursor.handle();
    HandleGuard<Block> block;
    // Read twice, as a Get may be served from the cache, whose bytes may be sound where the file's
    // are not.
    Status s = parts_.store->Verify(handle, context);
    if (s.ok()) s = parts_.store->Get(handle, /*slot=*/nullptr, context, &block);
    if (!s.ok()) {
      lose(s, StoredBytes(handle));
      continue;
    }
    count->blocks++;
    DataBlockCursor it;
    it.Init(block.get(), parts_.store->icmp, parts_.override_seq);
    for (it.SeekToFirst(); it.Valid(); it.Next()) {
      Slice key;
      s = ShownKey(it.key(), &whole_key, &key);
      if (!s.ok()) break;
      VARVE_RETURN_IF_ERROR(take(key, it.value()));
      count->entries++;
    }
    if (it.corrupt()) s = MalformedEntry(*parts_.store, handle);
    if (!s.ok()) lose(s, StoredBytes(handle));
  }
  if (!cursor.status().ok()) lose(cursor.status(), 0);
  return Status::OK();
}

}  // namespace varve
