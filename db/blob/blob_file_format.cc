// SPDX-License-Identifier: Apache-2.0
#include "db/blob/blob_file_format.h"

#include "util/base/assert.h"
#include "util/coding/crc32c.h"
#include "util/coding/fixed.h"

namespace varve {

namespace {

constexpr uint8_t kHasTtlFlag = 1;
constexpr size_t kCheckedRecordBytes = 24;  // of a record's header, before its checksum
constexpr size_t kCheckedFooterBytes = 28;  // of the footer, before its checksum

uint32_t MaskedCrc(const char* data, size_t n) {
  return crc32c::Mask(crc32c::Value(data, n));
}

Status CheckMagic(const Slice& bytes) {
  if (DecodeFixed32(bytes.data()) == kBlobFileMagic) return Status::OK();
  return Status::Corruption("blob file", "bad magic number");
}

}  // namespace

void BlobFileHeader::EncodeTo(char* dst) const {
  EncodeFixed32(dst, kBlobFileMagic);
  EncodeFixed32(dst + 4, kBlobFileVersion);
  EncodeFixed32(dst + 8, column_family_id);
  dst[12] = static_cast<char>(has_ttl ? kHasTtlFlag : 0);
  dst[13] = static_cast<char>(compression);
  EncodeFixed64(dst + 14, smallest_expiration);
  EncodeFixed64(dst + 22, largest_expiration);
}

Status BlobFileHeader::Decode(const Slice& bytes, BlobFileHeader* header) {
  VARVE_ASSERT(bytes.size() == kBytes);
  const Status s = CheckMagic(bytes);
  if (!s.ok()) return s;
  const char* const at = bytes.data();
  if (DecodeFixed32(at + 4) != kBlobFileVersion) {
    return Status::Corruption("blob file", "unknown version");
  }
  header->column_family_id = DecodeFixed32(at + 8);
  header->has_ttl = (static_cast<uint8_t>(at[12]) & kHasTtlFlag) != 0;
  header->compression = static_cast<CompressionType>(at[13]);
  header->smallest_expiration = DecodeFixed64(at + 14);
  header->largest_expiration = DecodeFixed64(at + 22);
  return Status::OK();
}

void BlobRecordHeader::EncodeTo(char* dst) const {
  EncodeFixed64(dst, key_bytes);
  EncodeFixed64(dst + 8, value_bytes);
  EncodeFixed64(dst + 16, expiration);
  EncodeFixed32(dst + kCheckedRecordBytes, MaskedCrc(dst, kCheckedRecordBytes));
  EncodeFixed32(dst + kCheckedRecordBytes + 4, masked_blob_crc);
}

Status BlobRecordHeader::Decode(const Slice& bytes, BlobRecordHeader* header) {
  VARVE_ASSERT(bytes.size() == kBytes);
  const char* const at = bytes.data();
  if (DecodeFixed32(at + kCheckedRecordBytes) != MaskedCrc(at, kCheckedRecordBytes)) {
    return Status::Corruption("blob record", "checksum mismatch of its header");
  }
  header->key_bytes = DecodeFixed64(at);
  header->value_bytes = DecodeFixed64(at + 8);
  header->expiration = DecodeFixed64(at + 16);
  header->masked_blob_crc = DecodeFixed32(at + kCheckedRecordBytes + 4);
  return Status::OK();
}

uint32_t BlobRecordHeader::BlobCrc(const Slice& user_key, const Slice& value) {
  const uint32_t of_key = crc32c::Value(user_key.data(), user_key.size());
  return crc32c::Mask(crc32c::Extend(of_key, value.data(), value.size()));
}

bool BlobRecordHeader::MatchesBlob(const Slice& user_key, const Slice& value) const {
  return BlobCrc(user_key, value) == masked_blob_crc;
}

void BlobFileFooter::EncodeTo(char* dst) const {
  EncodeFixed32(dst, kBlobFileMagic);
  EncodeFixed64(dst + 4, blob_count);
  EncodeFixed64(dst + 12, smallest_expiration);
  EncodeFixed64(dst + 20, largest_expiration);
  EncodeFixed32(dst + kCheckedFooterBytes, MaskedCrc(dst, kCheckedFooterBytes));
}

Status BlobFileFooter::Decode(const Slice& bytes, BlobFileFooter* footer) {
  VARVE_ASSERT(bytes.size() == kBytes);
  const Status s = CheckMagic(bytes);
  if (!s.ok()) return s;
  const char* const at = bytes.data();
  if (DecodeFixed32(at + kCheckedFooterBytes) != MaskedCrc(at, kCheckedFooterBytes)) {
    return Status::Corruption("blob file", "checksum mismatch of the footer");
  }
  footer->blob_count = DecodeFixed64(at + 4);
  footer->smallest_expiration = DecodeFixed64(at + 12);
  footer->largest_expiration = DecodeFixed64(at + 20);
  return Status::OK();
}

}  // namespace varve
