// SPDX-License-Identifier: Apache-2.0
#include "table/filter/filter_reader.h"

#include <string>
#include <utility>

#include "util/base/status_macros.h"

namespace varve {

Status FilterReader::Open(const BlockStore* store, const Options& options,
                          const BlockReadContext& context, std::unique_ptr<FilterReader>* reader) {
  std::unique_ptr<FilterReader> result(new FilterReader(store, options));
  BlockReadContext read = context;
  read.high_priority = options.high_priority;
  VARVE_RETURN_IF_ERROR(result->Load(read));
  *reader = std::move(result);
  return Status::OK();
}

Status FilterReader::Load(const BlockReadContext& context) {
  const bool keep = options_.residency != MetaResidency::kCached;
  if (!options_.partitioned) {
    Held<FilterBlock> filter;
    if (options_.residency == MetaResidency::kOwned) {
      std::unique_ptr<FilterBlock> own;
      VARVE_RETURN_IF_ERROR(store_->Read(options_.root, context, &own));
      filter = Held<FilterBlock>(std::unique_ptr<const FilterBlock>(std::move(own)));
    } else {
      VARVE_RETURN_IF_ERROR(store_->Get(options_.root, context, &filter));
    }
    if (keep) filter_ = std::move(filter);
    return Status::OK();
  }
  Held<DecodedIndex> root;
  if (options_.residency == MetaResidency::kOwned) {
    std::unique_ptr<DecodedIndex> own;
    VARVE_RETURN_IF_ERROR(store_->Read(options_.root, context, &own));
    root = Held<DecodedIndex>(std::unique_ptr<const DecodedIndex>(std::move(own)));
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

Status FilterReader::GetRoot(const BlockReadContext& context, Held<DecodedIndex>* root) const {
  if (root_) {
    *root = Held<DecodedIndex>(root_.get());
    return Status::OK();
  }
  return store_->Get(options_.root, context, root);
}

Held<FilterBlock> FilterReader::FilterFor(const BlockReadContext& context,
                                          const Slice& internal_key) const {
  if (filter_) [[likely]]
    return Held<FilterBlock>(filter_.get());
  BlockReadContext read = context;
  read.prefetcher = nullptr;
  read.high_priority = options_.high_priority;
  Held<FilterBlock> filter;
  if (!options_.partitioned) {
    if (!store_->Get(options_.root, read, &filter).ok()) filter.Reset();
    return filter;
  }
  Held<DecodedIndex> root;
  if (!GetRoot(read, &root).ok() || root->size() == 0) return filter;
  size_t i = root->Seek(*store_->icmp, internal_key);
  if (i == root->size()) i--;  // the last partition covers all that follows
  if (i < partitions_.size()) return Held<FilterBlock>(partitions_[i].get());
  if (!store_->Get(root->handle(i), read, &filter).ok()) filter.Reset();
  return filter;
}

bool FilterReader::KeyMayMatch(const BlockReadContext& context, const PointLookup& lookup) const {
  const Slice user_key = lookup.user_key();
  Slice item = user_key;
  if (!options_.whole_keys) {
    if (options_.prefix_extractor == nullptr || !options_.prefix_extractor->InDomain(user_key)) {
      return true;
    }
    item = options_.prefix_extractor->Transform(user_key);
  }
  Held<FilterBlock> filter;
  if (options_.partitioned) {
    // A key is in the partition that covers its newest version, whatever the snapshot.
    std::string newest;
    AppendInternalKey(&newest, user_key, kMaxSequenceNumber, kValueTypeForSeek);
    filter = FilterFor(context, newest);
  } else {
    filter = FilterFor(context, lookup.internal_key());
  }
  if (!filter) return true;
  const FilterBits& bits = filter->bits();
  const bool hash_is_shared = options_.whole_keys && !bits.uses_legacy_hash();
  return bits.MayMatch(hash_is_shared ? lookup.hash() : bits.HashOf(item));
}

bool FilterReader::PrefixMayMatch(const BlockReadContext& context,
                                  const Slice& internal_key) const {
  const Slice user_key = ExtractUserKey(internal_key);
  if (options_.prefix_extractor == nullptr || !options_.prefix_extractor->InDomain(user_key)) {
    return true;
  }
  const Held<FilterBlock> filter = FilterFor(context, internal_key);
  if (!filter) return true;
  const FilterBits& bits = filter->bits();
  return bits.MayMatch(bits.HashOf(options_.prefix_extractor->Transform(user_key)));
}

size_t FilterReader::MemoryUsage() const {
  size_t sum = sizeof(*this);
  if (filter_ && !filter_.shareable()) sum += filter_->MemoryUsage();
  if (root_ && !root_.shareable()) sum += root_->MemoryUsage();
  for (const Held<FilterBlock>& partition : partitions_) {
    if (!partition.shareable()) sum += partition->MemoryUsage();
  }
  return sum;
}

Status FilterReader::ListBlocks(const BlockReadContext& context,
                                std::vector<BlockHandle>* handles) const {
  handles->push_back(options_.root);
  if (!options_.partitioned) return Status::OK();
  Held<DecodedIndex> root;
  VARVE_RETURN_IF_ERROR(GetRoot(context, &root));
  for (size_t i = 0; i < root->size(); i++) handles->push_back(root->handle(i));
  return Status::OK();
}

}  // namespace varve
