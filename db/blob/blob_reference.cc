// SPDX-License-Identifier: Apache-2.0
#include "db/blob/blob_reference.h"

#include "util/coding/reader.h"
#include "util/coding/varint.h"

namespace varve {

namespace {

Status BadReference(const char* what) {
  return Status::Corruption("blob reference", what);
}

}  // namespace

void BlobReference::EncodeTo(std::string* dst) const {
  dst->push_back(static_cast<char>(kind));
  if (kind != Kind::kBlob) PutVarint64(dst, expiration);
  if (kind == Kind::kInlinedTtl) {
    dst->append(inlined.data(), inlined.size());
    return;
  }
  PutVarint64(dst, file_number);
  PutVarint64(dst, offset);
  PutVarint64(dst, size);
  dst->push_back(static_cast<char>(compression));
}

// Changes *reference only on success. FORMAT.md has the order of the parts.
Status BlobReference::Decode(const Slice& encoded, BlobReference* reference) {
  BoundedReader in(encoded);
  const uint8_t kind = in.U8();
  if (!in.ok()) return BadReference("has no bytes");
  if (kind > static_cast<uint8_t>(Kind::kBlobTtl)) return BadReference("is of an unknown kind");
  BlobReference result;
  result.kind = static_cast<Kind>(kind);
  if (result.kind != Kind::kBlob) result.expiration = in.Varint64();
  if (!in.ok()) return BadReference("ends within the expiration time");
  if (result.kind == Kind::kInlinedTtl) {
    result.inlined = in.rest();
  } else {
    result.file_number = in.Varint64();
    result.offset = in.Varint64();
    result.size = in.Varint64();
    result.compression = static_cast<CompressionType>(in.U8());
    if (!in.AtEnd()) return BadReference("is longer or shorter than its parts");
  }
  *reference = result;
  return Status::OK();
}

Status BlobReference::DecodeInDatabase(const Slice& encoded, BlobReference* reference) {
  const Status s = Decode(encoded, reference);
  if (!s.ok()) return s;
  if (reference->kind != Kind::kBlob) {
    return BadReference("has an expiration time, as only stores beside a database write it");
  }
  if (reference->file_number == 0) {
    return Status::NotSupported("blob reference", "the value is embedded in its table");
  }
  return Status::OK();
}

std::string BlobReference::ToString() const {
  if (kind == Kind::kInlinedTtl) return "inlined, " + std::to_string(inlined.size()) + " bytes";
  return "blob file " + std::to_string(file_number) + ", offset " + std::to_string(offset) + ", " +
         std::to_string(size) + " bytes";
}

}  // namespace varve
