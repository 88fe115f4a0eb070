// SPDX-License-Identifier: Apache-2.0
#include "db/wal/record_decompressor.h"

#include <cstdint>

#include "util/coding/reader.h"
#include "util/coding/varint.h"
#include "util/compress/codec.h"

namespace varve::wal {

namespace {

constexpr uint32_t kZstdMagic = 0xfd2fb528u;
// Tables of this format version state the raw size before the frame, which the codec requires.
constexpr uint32_t kSizedBlockVersion = 5;

// Gets the content size in a zstd frame's header (RFC 8878); returns false if it states none:
//
//      magic 4 | descriptor 1 | window 1, unless single segment | dictionary id | content size
//
// The descriptor's highest two bits select the width of the content size, its lowest two bits that
// of the dictionary id, and bit 5 is the single segment. A size of two bytes counts from 256, since
// smaller ones fit into one byte.
bool StatedSize(const Slice& frame, uint64_t* size) {
  BoundedReader in(frame);
  if (in.Fixed32() != kZstdMagic) return false;
  const uint8_t descriptor = in.U8();
  const bool single_segment = (descriptor & 0x20) != 0;
  if (!single_segment) in.U8();  // Window.
  static constexpr uint64_t kDictionaryIdBytes[] = {0, 1, 2, 4};
  in.Skip(kDictionaryIdBytes[descriptor & 3]);
  switch (descriptor >> 6) {
    case 0:
      if (!single_segment) return false;
      *size = in.U8();
      break;
    case 1:
      *size = uint64_t{in.Fixed16()} + 256;
      break;
    case 2:
      *size = in.Fixed32();
      break;
    default:
      *size = in.Fixed64();
      break;
  }
  return in.ok();
}

// Makes room for the codec, which has bounded `bytes` by what it can make of its input.
char* ResizeString(void* arg, size_t bytes) {
  auto* out = static_cast<std::string*>(arg);
  out->resize(bytes);
  return out->data();
}

}  // namespace

Status CheckCompressionRecord(const Slice& payload) {
  if (payload.size() != 4) return Status::Corruption("log compression record of a wrong size");
  const uint32_t type = DecodeFixed32(payload.data());
  if (type != kZSTD) {
    return Status::NotSupported("log compression", "of type " + std::to_string(type));
  }
  if (!CodecSupported(kZSTD)) return CodecNotSupported(kZSTD, "log compression");
  return Status::OK();
}

// The codec takes the form in which tables have it, with the size before the frame.
Status DecompressRecord(const Slice& frame, std::string* raw) {
  raw->clear();
  uint64_t size = 0;
  if (!StatedSize(frame, &size) || size > kCompressedRecordBytesMax) {
    return Status::Corruption("compressed log record without a usable size");
  }
  std::string block;
  block.reserve(frame.size() + kMaxVarint32Length);
  PutVarint32(&block, static_cast<uint32_t>(size));
  block.append(frame.data(), frame.size());
  BufferSink sink;
  sink.alloc = ResizeString;
  sink.arg = raw;
  Slice result;
  return FindCodec(kZSTD)->Uncompress(Slice(), block, kSizedBlockVersion, kCompressedRecordBytesMax,
                                      sink, &result);
}

}  // namespace varve::wal
