// SPDX-License-Identifier: Apache-2.0

// A filter answers from memory if it is resident and takes the hash that all tables share.
// Otherwise it is got from the cache or the file, in one piece or by partition. An answer of "no"
// ends the search of the table, so everything that is in doubt, an unreadable partition included,
// answers "maybe".

#include "table/reader/filter_reader.h"

#include <string>
#include <utility>

#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/key/prefix_answer.h"

namespace varve {

namespace {

bool BlockMayMatch(const HandleGuard<FilterBlock>& filter, const Slice& item) {
  return !filter || filter->bits().MayMatch(filter->bits().HashOf(item));
}

}  // namespace

Status FilterReader::Open(const BlockStore* store, const Options& options,
                          const BlockReadContext& context, std::unique_ptr<FilterReader>* reader) {
  std::unique_ptr<FilterReader> result(new FilterReader(store, options));
  BlockReadContext read = context;
  read.high_priority = options.high_priority;
  VARVE_RETURN_IF_ERROR(result->Load(read));
  *reader = std::move(result);
  return Status::OK();
}

// Where the filter stays follows from residency: memory of this object, a permanent reference to
// the cache, or nothing but what the cache keeps by itself.
Status FilterReader::Load(const BlockReadContext& context) {
  const bool keep = options_.residency != MetaResidency::kCached;
  if (!options_.partitioned) {
    HandleGuard<FilterBlock> filter;
    if (options_.residency == MetaResidency::kOwned) {
      std::unique_ptr<FilterBlock> own;
      VARVE_RETURN_IF_ERROR(store_->Read(options_.root, context, &own));
      filter = HandleGuard<FilterBlock>(std::unique_ptr<const FilterBlock>(std::move(own)));
    } else {
      VARVE_RETURN_IF_ERROR(store_->Get(options_.root, context, &filter));
    }
    if (!keep) return Status::OK();
    filter_ = std::move(filter);
    bits_ = filter_->bits();
    answers_at_once_ = options_.whole_keys && !bits_.uses_legacy_hash();
    return Status::OK();
  }
  HandleGuard<DecodedIndex> root;
  if (options_.residency == MetaResidency::kOwned) {
    std::unique_ptr<DecodedIndex> own;
    VARVE_RETURN_IF_ERROR(store_->Read(options_.root, context, &own));
    root = HandleGuard<DecodedIndex>(std::unique_ptr<const DecodedIndex>(std::move(own)));
  } else {
    VARVE_RETURN_IF_ERROR(store_->Get(options_.root, context, &root));
  }
  if (options_.pin_partitions) {
    for (size_t i = 0; i < root->size(); i++) {
      partitions_.emplace_back();
      VARVE_RETURN_IF_ERROR(store_->Get(root->handle(i), context, &partitions_.back()));
    }
  }
  if (keep) root_ = std::move(root);
  return Status::OK();
}

Status FilterReader::GetRoot(const BlockReadContext& context,
                             HandleGuard<DecodedIndex>* root) const {
  if (root_) {
    *root = HandleGuard<DecodedIndex>(root_.get());
    return Status::OK();
  }
  return store_->Get(options_.root, context, root);
}

HandleGuard<FilterBlock> FilterReader::WholeFilter(const BlockReadContext& context) const {
  if (filter_) [[likely]]
    return HandleGuard<FilterBlock>(filter_.get());
  HandleGuard<FilterBlock> filter;
  if (!store_->Get(options_.root, MetaContext(context), &filter).ok()) filter.Reset();
  return filter;
}

// A partition's separator is not below any key in it, so the first one that is not below the key
// leads to the partition.
size_t FilterReader::FindPartition(const BlockReadContext& context, const Slice& internal_key,
                                   HandleGuard<DecodedIndex>* root) const {
  if (!GetRoot(MetaContext(context), root).ok()) {
    root->Reset();
    return 0;
  }
  size_t i = 0;
  if ((*root)->form().user_keys) {
    // Without sequence numbers in the separators, all versions of a key lead to one partition.
    i = (*root)->Seek(*store_->icmp, internal_key);
  } else {
    // Seeks to where the key's newest version would be: in files whose partitions end between the
    // versions of a key, each of these partitions has the key.
    std::string newest;
    AppendInternalKey(&newest, ExtractUserKey(internal_key), kMaxSequenceNumber, kValueTypeForSeek);
    i = (*root)->Seek(*store_->icmp, newest);
  }
  // The last partition covers all later keys.
  return i == (*root)->size() && i > 0 ? i - 1 : i;
}

HandleGuard<FilterBlock> FilterReader::PartitionAt(const BlockReadContext& context,
                                                   const DecodedIndex& root, size_t i) const {
  VARVE_ASSERT(i < root.size());
  if (i < partitions_.size()) return HandleGuard<FilterBlock>(partitions_[i].get());
  HandleGuard<FilterBlock> filter;
  if (!store_->Get(root.handle(i), MetaContext(context), &filter).ok()) filter.Reset();
  return filter;
}

// Chooses what is asked for, the key or its prefix, then finds the block that answers, and asks it.
// Each step that cannot be done answers "maybe".
bool FilterReader::KeyMayMatchSlow(const BlockReadContext& context,
                                   const PointLookup& lookup) const {
  const Slice key = lookup.key();
  Slice item = key;
  // A filter of prefixes alone can answer for a key only through the key's prefix.
  if (!options_.whole_keys) {
    if (options_.prefix_extractor == nullptr ||
        AskPrefix(*options_.prefix_extractor, key, &item) != PrefixAnswer::kPrefix) {
      return true;
    }
  }
  HandleGuard<FilterBlock> filter;
  if (!options_.partitioned) {
    filter = WholeFilter(context);
  } else {
    HandleGuard<DecodedIndex> root;
    const size_t i = FindPartition(context, lookup.internal_key(), &root);
    if (!root || i == root->size()) return true;
    filter = PartitionAt(context, *root, i);
  }
  if (!filter) return true;
  const FilterBits& bits = filter->bits();
  const bool hash_is_shared = options_.whole_keys && !bits.uses_legacy_hash();
  return bits.MayMatch(hash_is_shared ? lookup.hash() : bits.HashOf(item));
}

// The guard keeps the bits alive while the caller asks for several keys.
HandleGuard<FilterBlock> FilterReader::ForHashes(const BlockReadContext& context) const {
  if (options_.partitioned || !options_.whole_keys) return HandleGuard<FilterBlock>();
  HandleGuard<FilterBlock> filter = WholeFilter(context);
  if (filter && filter->bits().uses_legacy_hash()) filter.Reset();
  return filter;
}

bool FilterReader::PrefixMayMatch(const BlockReadContext& context,
                                  const Slice& internal_key) const {
  const Slice key = store_->icmp->KeyOf(internal_key);
  Slice prefix;
  if (options_.prefix_extractor == nullptr ||
      AskPrefix(*options_.prefix_extractor, key, &prefix) != PrefixAnswer::kPrefix) {
    return true;
  }
  if (options_.partitioned) return PartitionMayMatch(context, internal_key, prefix);
  return BlockMayMatch(WholeFilter(context), prefix);
}

// Up to two partitions are asked, and "no" needs the "no" of each that may have the prefix.
bool FilterReader::PartitionMayMatch(const BlockReadContext& context, const Slice& internal_key,
                                     const Slice& prefix) const {
  HandleGuard<DecodedIndex> root;
  const size_t i = FindPartition(context, internal_key, &root);
  if (!root || i == root->size()) return true;
  if (BlockMayMatch(PartitionAt(context, *root, i), prefix)) return true;
  // Keys with that prefix below the target may be in the previous partition, and older writers do
  // not add the prefix to this one. In that case the separator between the two has the prefix as
  // well.
  if (i == 0) return false;
  const Slice border = root->separator_key(i - 1, *store_->icmp);
  Slice of_border;
  if (AskPrefix(*options_.prefix_extractor, border, &of_border) == PrefixAnswer::kPrefix &&
      of_border != prefix) {
    return false;
  }
  return BlockMayMatch(PartitionAt(context, *root, i - 1), prefix);
}

size_t FilterReader::MemoryUsage() const {
  size_t sum = sizeof(*this);
  if (filter_ && !filter_.shareable()) sum += filter_->MemoryUsage();
  if (root_ && !root_.shareable()) sum += root_->MemoryUsage();
  for (const HandleGuard<FilterBlock>& partition : partitions_) {
    if (!partition.shareable()) sum += partition->MemoryUsage();
  }
  return sum;
}

Status FilterReader::ListBlocks(const BlockReadContext& context,
                                std::vector<BlockHandle>* handles) const {
  handles->push_back(options_.root);
  if (!options_.partitioned) return Status::OK();
  HandleGuard<DecodedIndex> root;
  VARVE_RETURN_IF_ERROR(GetRoot(context, &root));
  for (size_t i = 0; i < root->size(); i++) handles->push_back(root->handle(i));
  return Status::OK();
}

}  // namespace varve
