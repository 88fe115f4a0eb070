// SPDX-License-Identifier: Apache-2.0

// Fuzzes data blocks: whatever their bytes, walks in both directions and searches end inside the
// block; both forms of a block in memory say the same; a block that is whole reads the same both
// ways.

#include <algorithm>
#include <memory>
#include <utility>

#include "table/block/block_builder.h"
#include "table/block/point_search.h"
#include "tests/fuzz/target.h"
#include "tests/table/block/data_block_iterator.h"
#include "util/key/internal_key.h"
#include "util/key/point_lookup.h"

namespace varve::fuzz {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

const InternalKeyComparator& Order() {
  static const InternalKeyComparator order(BytewiseComparator());
  return order;
}

void MakeSeeds(Seeds* seeds) {
  for (const int restarts : {1, 3, 16}) {
    for (const double hash : {0.0, 0.75}) {
      BlockBuilder::Options options;
      options.restart_interval = restarts;
      options.hash_index_ratio = hash;
      BlockBuilder block(options);
      for (int i = 100; i < 140; i++) {
        std::string key;
        AppendInternalKey(&key, "prefix" + std::to_string(i / 3), static_cast<uint64_t>(1000 - i),
                          i % 5 == 0 ? kTypeDeletion : kTypeValue);
        block.Add(key, std::string(static_cast<size_t>(i % 7), 'v'));
      }
      seeds->push_back(block.Finish().ToString());
    }
  }
}

// Every step takes at least three bytes, so there cannot be more entries than bytes.
Status Walk(DataBlockIterator* it, bool forward, size_t most, Entries* entries) {
  for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
       forward ? it->Next() : it->Prev()) {
    Promise(entries->size() <= most, "a walk ends");
    entries->emplace_back(it->key().ToString(), it->value().ToString());
  }
  return it->status();
}

std::shared_ptr<const Block> MakeBlock(const Slice& bytes, bool one_piece) {
  std::unique_ptr<Block> block;
  Status s;
  if (one_piece) {
    Block::Piece piece;
    piece.front = 16;
    piece.key_tail = 8;
    s = Block::CreateInOnePiece(BlockContents{bytes, nullptr}, piece, "fuzz", &block);
    if (s.ok()) block->WantIndex();
  } else {
    s = Block::Create(BlockContents{bytes, nullptr}, "fuzz", &block);
  }
  Note(s);
  if (!s.ok()) return nullptr;
  return std::shared_ptr<const Block>(block.release(), std::default_delete<const Block>());
}

void Search(const std::shared_ptr<const Block>& block, const Entries& entries) {
  DataBlockIterator it(block, &Order(), "fuzz");
  for (size_t i = 0; i < entries.size(); i += 1 + entries.size() / 8) {
    const std::string& key = entries[i].first;
    it.Seek(key);
    it.SeekForPrev(key);
    if (key.size() < 8) continue;
    PinnableSlice value;
    PointLookup lookup(ExtractUserKey(key), kMaxSequenceNumber, &value);
    bool matched = false;
    PrefetchEntry(*block, lookup.key());
    Note(static_cast<uint64_t>(
        SearchBlock(*block, Order(), kMaxSequenceNumber, &lookup, nullptr, &matched)));
  }
}

void CheckBlock(const Slice& bytes, bool one_piece, Entries* forward, Status* status) {
  const std::shared_ptr<const Block> block = MakeBlock(bytes, one_piece);
  if (block == nullptr) {
    *status = Status::Corruption("no block");
    return;
  }
  DataBlockIterator it(block, &Order(), "fuzz");
  Entries backward;
  *status = Walk(&it, true, bytes.size(), forward);
  const Status other_way = Walk(&it, false, bytes.size(), &backward);
  Note(*status);
  Note(forward->size());
  if (status->ok() && other_way.ok() && forward->size() == backward.size()) {
    Promise(std::equal(forward->begin(), forward->end(), backward.rbegin()),
            "both directions show the same entries");
  }
  Search(block, *forward);
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  const varve::Slice bytes(reinterpret_cast<const char*>(data), size);
  fuzz::Entries read;
  fuzz::Entries copied;
  varve::Status first;
  varve::Status second;
  fuzz::CheckBlock(bytes, false, &read, &first);
  fuzz::CheckBlock(bytes, true, &copied, &second);
  if (first.ok() && second.ok()) fuzz::Promise(read == copied, "both forms have the same entries");
  return 0;
}

static const varve::fuzz::Register registered({"data_block", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 120});
