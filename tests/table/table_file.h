// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds a table into memory and takes it apart again with nothing but the format's grammar, so
// that tests of the builder do not depend on the reader.

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "table/block/block_walker.h"
#include "table/builder/block_table_builder.h"
#include "table/format/block_trailer.h"
#include "table/format/footer.h"
#include "table/meta/properties_block.h"
#include "util/compress/codec.h"
#include "util/env/writable_file_writer.h"
#include "util/key/internal_key.h"

namespace varve::test {

// Appends to a string that outlives it.
class StringFile final : public FSWritableFile {
 public:
  explicit StringFile(std::string* content) : content_(content) {}
  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    content_->append(data.data(), data.size());
    return IOStatus::OK();
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  std::string* content_;
};

inline const InternalKeyComparator& Bytewise() {
  static const InternalKeyComparator icmp(BytewiseComparator());
  return icmp;
}

inline std::string IKey(const Slice& user_key, SequenceNumber seq, ValueType type = kTypeValue) {
  std::string key;
  AppendInternalKey(&key, user_key, seq, type);
  return key;
}

inline std::string FromHex(std::string hex) {
  std::erase(hex, ' ');
  std::erase(hex, '\n');
  std::string bytes;
  return Slice(hex).DecodeHex(&bytes) ? bytes : "bad hex digits in a test";
}

inline std::string ToHex(const Slice& bytes) {
  std::string hex;
  for (size_t i = 0; i < bytes.size(); i++) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned char>(bytes[i]));
    hex += digits;
  }
  return hex;
}

using Entries = std::vector<std::pair<std::string, std::string>>;

// A table in memory, with its builder.
struct BuiltTable {
  std::string file;
  std::unique_ptr<WritableFileWriter> writer;
  std::unique_ptr<TableBuilder> builder;

  explicit BuiltTable(const BlockTableBuildOptions& options) {
    writer = std::make_unique<WritableFileWriter>(std::make_unique<StringFile>(&file), "test.sst",
                                                  WritableFileWriter::Options());
    create_status = BlockTableBuilder::Create(options, writer.get(), &builder);
  }
  Status Finish() {
    Status s = builder->Finish();
    if (s.ok()) s = writer->Flush();
    return s;
  }

  Status create_status;
};

// Reads a whole table. Every method fails by returning a bad status or an empty result.
class TableParts {
 public:
  Status Open(const std::string& file) {
    file_ = file;
    Status s = footer.DecodeFrom(Slice(file_), 0);
    if (!s.ok()) return s;
    std::string block;
    s = ReadBlock(footer.metaindex, "", &block);
    if (!s.ok()) return s;
    BlockWalker walk{Slice(block)};
    while (walk.Next()) {
      Slice value = walk.value();
      BlockHandle handle;
      if (!BlockHandle::DecodeFrom(&value, &handle)) return Status::Corruption("metaindex handle");
      metaindex[walk.key().ToString()] = handle;
    }
    if (!walk.status().ok()) return walk.status();
    if (Footer::UsesContext(footer.format_version)) footer.index = metaindex[meta_block::kIndex];
    if (metaindex.count(meta_block::kCompressionDictionary) != 0) {
      s = ReadBlock(metaindex[meta_block::kCompressionDictionary], "", &dictionary);
      if (!s.ok()) return s;
    }
    s = ReadBlock(metaindex[meta_block::kProperties], "", &block);
    return s.ok() ? ParseProperties(Slice(block), &properties, &traits) : s;
  }

  Status ReadBlock(const BlockHandle& handle, const Slice& dict, std::string* content) const {
    if (!handle.FitsIn(file_.size())) return Status::Corruption("handle beyond the file");
    const char* const data = file_.data() + handle.offset;
    const auto size = static_cast<size_t>(handle.size);
    if (!BlockTrailerMatches(footer.checksum, footer.base_context_checksum, handle.offset, data,
                             size)) {
      return BlockChecksumMismatch(footer.checksum, footer.base_context_checksum, data, handle,
                                   "test.sst");
    }
    const CompressionType type = BlockCompression(data, size);
    if (type == kNoCompression) {
      content->assign(data, size);
      return Status::OK();
    }
    const Codec* const codec = FindCodec(type);
    if (codec == nullptr) return Status::NotSupported("codec");
    std::string buffer;
    BufferSink sink{[](void* arg, size_t bytes) {
                      auto* const s = static_cast<std::string*>(arg);
                      s->resize(bytes);
                      return s->data();
                    },
                    &buffer};
    Slice result;
    Status s = codec->Uncompress(dict, Slice(data, size), footer.format_version, size_t{64} << 20,
                                 sink, &result);
    if (s.ok()) content->assign(result.data(), result.size());
    return s;
  }

  // Reads the entries of an index block of this table: separator and handle.
  Status ReadIndexBlock(const BlockHandle& at,
                        std::vector<std::pair<std::string, BlockHandle>>* entries) const {
    std::string block;
    Status s = ReadBlock(at, "", &block);
    if (!s.ok()) return s;
    const uint32_t restarts = DecodeFixed32(block.data() + block.size() - 4);
    Slice in(block.data(), block.size() - 4 - 4 * restarts);
    std::string key;
    BlockHandle handle;
    while (!in.empty()) {
      uint32_t shared = 0;
      uint32_t unshared = 0;
      uint32_t value_size = 0;
      if (!GetVarint32(&in, &shared) || !GetVarint32(&in, &unshared)) return Bad();
      if (!traits.index_value_is_delta_encoded && !GetVarint32(&in, &value_size)) return Bad();
      if (shared > key.size() || unshared > in.size()) return Bad();
      key = key.substr(0, shared) + std::string(in.data(), unshared);
      in.remove_prefix(unshared);
      if (traits.index_value_is_delta_encoded && shared != 0) {
        int64_t delta = 0;
        if (!GetVarsignedint64(&in, &delta)) return Bad();
        handle.offset = handle.end();
        handle.size += static_cast<uint64_t>(delta);
      } else if (!BlockHandle::DecodeFrom(&in, &handle)) {
        return Bad();
      }
      Slice first_key;
      if (traits.index_type == BlockBasedTableOptions::kBinarySearchWithFirstKey) {
        if (!GetLengthPrefixedSlice(&in, &first_key)) return Bad();
        first_keys.push_back(first_key.ToString());
      }
      entries->emplace_back(key, handle);
    }
    return Status::OK();
  }

  // Reads all data blocks' index entries, through partitions if there are any.
  Status ReadIndex(std::vector<std::pair<std::string, BlockHandle>>* entries) const {
    if (traits.index_type != BlockBasedTableOptions::kTwoLevelIndexSearch) {
      return ReadIndexBlock(footer.index, entries);
    }
    std::vector<std::pair<std::string, BlockHandle>> top;
    Status s = ReadIndexBlock(footer.index, &top);
    for (size_t i = 0; s.ok() && i < top.size(); i++) {
      s = ReadIndexBlock(top[i].second, entries);
      if (s.ok() && entries->back().first != top[i].first) {
        s = Status::Corruption("top-level separator is not the last of its partition");
      }
    }
    return s;
  }

  // Reads every point entry, checking that separators separate.
  Status ReadAll(Entries* entries) const {
    std::vector<std::pair<std::string, BlockHandle>> index;
    Status s = ReadIndex(&index);
    for (size_t i = 0; s.ok() && i < index.size(); i++) {
      std::string block;
      s = ReadBlock(index[i].second, dictionary, &block);
      if (!s.ok()) return s;
      BlockWalker walk(StripHashIndex(&block));
      while (walk.Next()) {
        entries->emplace_back(walk.key().ToString(), walk.value().ToString());
      }
      s = walk.status();
    }
    return s;
  }

  Status ReadTombstones(Entries* entries) const {
    std::string block;
    Status s = ReadBlock(metaindex.at(meta_block::kRangeDeletions), "", &block);
    if (!s.ok()) return s;
    BlockWalker walk{Slice(block)};
    while (walk.Next()) entries->emplace_back(walk.key().ToString(), walk.value().ToString());
    return walk.status();
  }

  // Makes a block with a hash index one without.
  static Slice StripHashIndex(std::string* block) {
    const uint32_t packed = DecodeFixed32(block->data() + block->size() - 4);
    if ((packed >> 31) == 0) return Slice(*block);
    const uint16_t buckets = DecodeFixed16(block->data() + block->size() - 6);
    block->resize(block->size() - 6 - buckets);
    PutFixed32(block, packed & 0x7fffffff);
    return Slice(*block);
  }

  Footer footer;
  std::map<std::string, BlockHandle> metaindex;
  TableProperties properties;
  TableTraits traits;
  std::string dictionary;
  mutable std::vector<std::string> first_keys;

 private:
  static Status Bad() { return Status::Corruption("malformed index entry"); }

  std::string file_;
};

}  // namespace varve::test
