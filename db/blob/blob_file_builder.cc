// SPDX-License-Identifier: Apache-2.0
#include "db/blob/blob_file_builder.h"

#include <iterator>

#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/compress/codec.h"
#include "util/metrics/statistics.h"

namespace varve {

Status BlobFileBuilder::CheckOptions(const BlobFileBuildOptions& options) {
  if (CodecSupported(options.compression)) return Status::OK();
  return CodecNotSupported(options.compression, "blob_compression_type");
}

BlobFileBuilder::BlobFileBuilder(const BlobFileBuildOptions& options, WritableFileWriter* file)
    : options_(options), codec_(FindCodec(options.compression)), file_(file) {
  VARVE_ASSERT(file->file_size() == 0);
}

Status BlobFileBuilder::Start() {
  BlobFileHeader header;
  header.column_family_id = options_.column_family_id;
  header.compression = options_.compression;
  char bytes[BlobFileHeader::kBytes];
  header.EncodeTo(bytes);
  VARVE_RETURN_IF_ERROR(file_->Append(Slice(bytes, sizeof(bytes))));
  RecordTick(options_.statistics, BLOB_DB_BLOB_FILE_BYTES_WRITTEN, sizeof(bytes));
  return Status::OK();
}

Status BlobFileBuilder::Compress(const Slice& value, Slice* stored) {
  *stored = value;
  if (codec_ == nullptr) return Status::OK();
  const StopWatch timer(options_.clock, options_.statistics, BLOB_DB_COMPRESSION_MICROS);
  if (!codec_->Compress(options_.compression_options, Slice(), value, &compressed_)) {
    return Status::NotSupported(
        "blob_compression_type: a value of " + std::to_string(value.size()) + " bytes, by",
        codec_->name());
  }
  *stored = compressed_;
  return Status::OK();
}

// Compression comes first, so that nothing is written if it fails. The file's header is written
// with the first record, so the file stays empty if the codec refuses every value.
Status BlobFileBuilder::Add(const Slice& user_key, const Slice& value, BlobReference* reference) {
  VARVE_ASSERT(!value.empty());
  Slice stored;
  VARVE_RETURN_IF_ERROR(Compress(value, &stored));
  if (blob_count_ == 0) VARVE_RETURN_IF_ERROR(Start());
  BlobRecordHeader header;
  header.key_bytes = user_key.size();
  header.value_bytes = stored.size();
  header.masked_blob_crc = BlobRecordHeader::BlobCrc(user_key, stored);
  char bytes[BlobRecordHeader::kBytes];
  header.EncodeTo(bytes);
  *reference = BlobReference();
  reference->file_number = options_.number;
  reference->offset = file_->file_size() + sizeof(bytes) + user_key.size();
  reference->size = stored.size();
  reference->compression = options_.compression;
  const Slice parts[] = {Slice(bytes, sizeof(bytes)), user_key, stored};
  VARVE_RETURN_IF_ERROR(file_->Append(parts, std::size(parts)));
  const uint64_t record_bytes = BlobRecordBytes(user_key.size(), stored.size());
  RecordTick(options_.statistics, BLOB_DB_BLOB_FILE_BYTES_WRITTEN, record_bytes);
  blob_count_++;
  blob_bytes_ += record_bytes;
  return Status::OK();
}

Status BlobFileBuilder::Finish() {
  VARVE_ASSERT(blob_count_ > 0);
  BlobFileFooter footer;
  footer.blob_count = blob_count_;
  char bytes[BlobFileFooter::kBytes];
  footer.EncodeTo(bytes);
  VARVE_RETURN_IF_ERROR(file_->Append(Slice(bytes, sizeof(bytes))));
  RecordTick(options_.statistics, BLOB_DB_BLOB_FILE_BYTES_WRITTEN, sizeof(bytes));
  return file_->Flush();
}

}  // namespace varve
