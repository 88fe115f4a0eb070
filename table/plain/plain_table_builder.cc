// SPDX-License-Identifier: Apache-2.0

#include "table/plain/plain_table_builder.h"

#include <algorithm>

#include "varve/comparator.h"

#include "table/builder/table_description.h"
#include "table/format/unique_id.h"
#include "table/meta/metaindex_builder.h"
#include "table/meta/properties_block.h"
#include "table/plain/plain_table_format.h"
#include "util/base/status_macros.h"
#include "util/coding/fixed.h"
#include "util/env/writable_file_writer.h"

namespace varve {

namespace {

constexpr size_t kBufferBytes = 64 * 1024;
// Room below the format's limit for what follows the rows: mostly properties, of unknown size if a
// program's collectors add some.
constexpr uint64_t kTailRoom = 16 << 20;
constexpr uint64_t kRowBytesLimit = kPlainFileBytesLimit - kTailRoom;

}  // namespace

PlainTableBuilder::PlainTableBuilder(const PlainTableBuildOptions& options,
                                     WritableFileWriter* file)
    : options_(options),
      file_(file),
      rows_({options.table.encoding_type, options.table.user_key_len}, options.prefix_extractor,
            options.table.index_sparseness) {
  collectors_.Start(options, &properties_);
}

Status PlainTableBuilder::CheckOptions(const PlainTableBuildOptions& options) {
  if (options.icmp == nullptr) return Status::InvalidArgument("table builder without comparator");
  if (options.icmp->timestamp_size() != 0) {
    return Status::NotSupported("PlainTable", "keys cannot have timestamps there");
  }
  if (options.table.encoding_type != kPlain && options.table.encoding_type != kPrefix) {
    return Status::InvalidArgument("PlainTableOptions::encoding_type", "is kPlain or kPrefix");
  }
  return Status::OK();
}

Status PlainTableBuilder::Create(const PlainTableBuildOptions& options, WritableFileWriter* file,
                                 std::unique_ptr<TableBuilder>* builder) {
  builder->reset();
  VARVE_RETURN_IF_ERROR(CheckOptions(options));
  builder->reset(new PlainTableBuilder(options, file));
  return Status::OK();
}

void PlainTableBuilder::Fail(const Status& status) {
  if (status_.ok()) status_ = status;
  closed_ = true;
}

// Everything that a reader will check is checked before the entry is in the buffer, so that no
// finished table is refused when it is opened.
Status PlainTableBuilder::CheckEntry(const Slice& key, const Slice& value) const {
  ParsedInternalKey parsed;
  if (!ParseInternalKey(key, &parsed) || parsed.type == kTypeRangeDeletion) {
    return DescribeBadInternalKey(key, Slice(file_->file_name()));
  }
  if (!last_key_.empty() && options_.icmp->Compare(last_key_, key) >= 0) {
    return Status::Corruption(file_->file_name(),
                              "an entry does not sort after the one before it: " +
                                  parsed.DebugString(options_.allow_data_in_errors));
  }
  const size_t length = options_.table.user_key_len;
  if (options_.table.encoding_type == kPlain && length != 0 && parsed.user_key.size() != length) {
    return Status::InvalidArgument("PlainTableOptions::user_key_len is " + std::to_string(length) +
                                       ", and a key has " + std::to_string(parsed.user_key.size()) +
                                       " bytes",
                                   file_->file_name());
  }
  if (FileSize() + key.size() + value.size() >= kRowBytesLimit) {
    return Status::NotSupported(file_->file_name(), "a PlainTable must be smaller than 2 GiB");
  }
  return Status::OK();
}

// An entry that is refused, or rows that cannot be written, close the builder: later entries are
// ignored, and Finish returns the error.
void PlainTableBuilder::Add(const Slice& key, const Slice& value) {
  if (closed_) return;
  if (const Status s = CheckEntry(key, value); !s.ok()) {
    Fail(s);
    return;
  }
  collectors_.Tell(key, value, FileSize());
  rows_.Append(key, value, &buffer_);
  last_key_.assign(key.data(), key.size());
  const ValueType type = ExtractValueType(key);
  const SequenceNumber seq = ExtractSequence(key);
  smallest_seq_ = std::min(smallest_seq_, seq);
  largest_seq_ = std::max(largest_seq_, seq);
  properties_.num_entries++;
  properties_.num_deletions += type == kTypeDeletion || type == kTypeSingleDeletion ? 1 : 0;
  properties_.num_merge_operands += type == kTypeMerge ? 1 : 0;
  properties_.raw_key_size += key.size();
  properties_.raw_value_size += value.size();
  if (buffer_.size() < kBufferBytes) return;
  if (const Status s = WriteBuffer(); !s.ok()) Fail(s);
}

void PlainTableBuilder::AddTombstone(const Slice& /*begin*/, const Slice& /*end*/) {
  if (closed_) return;
  Fail(Status::NotSupported(file_->file_name(),
                            "a PlainTable cannot hold range deletions; use block-based tables"));
}

// The flush or compaction ends the table here, one kTailRoom before Add would have to refuse
// entries.
bool PlainTableBuilder::Reaches(uint64_t bytes) {
  return EstimatedFileSize() >= std::min(bytes, kRowBytesLimit - kTailRoom);
}

Status PlainTableBuilder::WriteBuffer() {
  VARVE_RETURN_IF_ERROR(file_->Append(buffer_));
  written_ += buffer_.size();
  buffer_.clear();
  return Status::OK();
}

// After an error the file has a part of the table, which the caller deletes.
Status PlainTableBuilder::Finish() {
  if (!status_.ok()) return status_;
  if (closed_) {
    return Status::InvalidArgument(file_->file_name(), "Finish after Finish or Abandon");
  }
  closed_ = true;
  const Status s = WriteTail();
  if (!s.ok()) Fail(s);
  finished_ = s.ok();
  return s;
}

// Each part names the one before it, from the end of the file: the footer has the position of the
// metaindex, and the metaindex that of the properties.
//
//   rows | properties | metaindex        | footer
//   0    ^ data_end   ^ metaindex_offset
Status PlainTableBuilder::WriteTail() {
  const uint64_t data_end = FileSize();
  properties_.data_size = properties_.tail_start_offset = data_end;
  collectors_.Finish(&properties_);
  FillProperties();
  std::string block;
  EncodeProperties(properties_, &block);
  MetaindexBuilder metaindex;
  metaindex.Add(meta_block::kProperties, {data_end, block.size()});
  buffer_.append(block);
  PlainFooter footer;
  footer.metaindex_offset = FileSize();
  block = metaindex.Finish();
  footer.metaindex_size = block.size();
  buffer_.append(block);
  footer.EncodeTo(&buffer_);
  tail_size_ = FileSize() - data_end;
  return WriteBuffer();
}

void PlainTableBuilder::FillProperties() {
  DescribeTable(options_, &properties_);
  properties_.num_data_blocks = 1;  // as RocksDB counts all rows
  properties_.fixed_key_len = options_.table.user_key_len;
  if (properties_.num_entries > 0) {
    properties_.key_smallest_seqno = smallest_seq_;
    properties_.key_largest_seqno = largest_seq_;
  }
  // Readers cannot tell from the rows how they are encoded.
  std::string encoding;
  PutFixed32(&encoding, static_cast<uint32_t>(options_.table.encoding_type));
  properties_.user_collected_properties[kPlainEncodingProperty] = encoding;
}

std::string PlainTableBuilder::UniqueId() const {
  if (!finished_) return std::string();
  return TableUniqueId(options_.db_id, options_.db_session_id, options_.file_number);
}

}  // namespace varve
