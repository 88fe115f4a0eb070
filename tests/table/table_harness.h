// SPDX-License-Identifier: Apache-2.0
#pragma once

// Opens tables that lie in memory, and compares walks over them with a model.

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "table/reader/block_table_reader.h"
#include "tests/table/table_file.h"
#include "util/env/random_access_file_reader.h"
#include "util/key/internal_key.h"

namespace varve::test {

// A file in memory: copies like pread, or hands out its own bytes like a mapping.
class StringReadFile final : public FSRandomAccessFile {
 public:
  StringReadFile(std::shared_ptr<const std::string> content, bool mapped,
                 std::shared_ptr<std::atomic<size_t>> reads)
      : content_(std::move(content)), mapped_(mapped), reads_(std::move(reads)) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    ++*reads_;
    if (offset > content_->size()) return IOStatus::IOError("read beyond the end");
    n = std::min(n, content_->size() - static_cast<size_t>(offset));
    if (mapped_) {
      *result = Slice(content_->data() + offset, n);
    } else {
      memcpy(scratch, content_->data() + offset, n);
      *result = Slice(scratch, n);
    }
    return IOStatus::OK();
  }

 private:
  const std::shared_ptr<const std::string> content_;
  const bool mapped_;
  const std::shared_ptr<std::atomic<size_t>> reads_;
};

// An open table and all that it borrows. Not movable once open.
struct OpenTable {
  explicit OpenTable(const Comparator* comparator = BytewiseComparator()) : icmp(comparator) {
    options.icmp = &icmp;
    options.file_name = "000007.sst";
  }

  Status Open(const std::string& content) {
    auto file = std::make_unique<StringReadFile>(std::make_shared<const std::string>(content),
                                                 mapped, reads);
    auto file_reader =
        std::make_unique<RandomAccessFileReader>(std::move(file), "000007.sst", file_options);
    reader.reset();
    options.factory.reset(NewBlockBasedTableFactory(options.table));
    return TableReader::Open(options, std::move(file_reader), content.size(), &reader);
  }

  // Returns the state after a Get at `snapshot`, with the value if found.
  PointLookup::State Get(const Slice& user_key, SequenceNumber snapshot, std::string* value,
                         const ReadOptions& read = ReadOptions(), bool speculate = false) {
    PinnableSlice result;
    PointLookup lookup(user_key, snapshot, &result);
    lookup.IgnoreTombstones(read.ignore_range_deletions);
    TableHint hint;
    if (speculate) reader->PrefetchSpeculatively(lookup, &hint);
    status = reader->Get(read, &lookup, hint);
    if (lookup.state() == PointLookup::State::kFound) value->assign(result.data(), result.size());
    return lookup.state();
  }

  Status ReadAll(Entries* entries, const ReadOptions& read = ReadOptions(),
                 const TableIterOptions& iter = TableIterOptions()) {
    const std::unique_ptr<InternalIterator> it = reader->NewIterator(read, iter);
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      entries->emplace_back(it->key().ToString(), it->value().ToString());
    }
    return it->status();
  }

  const InternalKeyComparator icmp;
  BlockTableOpenOptions options;
  RandomAccessFileReader::Options file_options;
  bool mapped = false;
  std::shared_ptr<std::atomic<size_t>> reads = std::make_shared<std::atomic<size_t>>(0);
  Status status;
  std::unique_ptr<TableReader> reader;
};

struct InternalKeyLess {
  const InternalKeyComparator* icmp;
  bool operator()(const std::string& a, const std::string& b) const {
    return icmp->Compare(Slice(a), Slice(b)) < 0;
  }
};
using Model = std::map<std::string, std::string, InternalKeyLess>;

// Returns true if the iterator stands where `it` does.
inline bool SamePlace(const InternalIterator& iter, const Model& model, Model::const_iterator it) {
  if (it == model.end()) return !iter.Valid();
  return iter.Valid() && iter.key() == Slice(it->first) && iter.value() == Slice(it->second);
}

}  // namespace varve::test
