// SPDX-License-Identifier: Apache-2.0

// Fuzzes every codec: any bytes are refused, or give no more than the limit; compressed bytes come
// back.

#include <memory>

#include "varve/compression_type.h"

#include "tests/fuzz/target.h"
#include "util/compress/codec.h"

namespace varve::fuzz {
namespace {

constexpr size_t kLimit = 1 << 20;
constexpr CompressionType kTypes[] = {
    kSnappyCompression, kZlibCompression, kLZ4Compression, kLZ4HCCompression, kZSTD,
    kBZip2Compression};
constexpr uint32_t kVersions[] = {0, 1, 2, 5};

struct Room {
  std::unique_ptr<char[]> bytes;
  size_t size = 0;
};

char* Allocate(void* arg, size_t bytes) {
  auto* const room = static_cast<Room*>(arg);
  Promise(bytes <= kLimit && room->bytes == nullptr, "memory is asked for once, within the limit");
  room->bytes.reset(new char[bytes]);
  room->size = bytes;
  return room->bytes.get();
}

std::string Text(size_t n) {
  std::string text;
  while (text.size() < n) text += "the same words " + std::to_string(text.size() % 13);
  return text;
}

// The first byte has codec, version, and whether to compress. A dictionary follows, and the rest.
void MakeSeeds(Seeds* seeds) {
  for (uint8_t type = 0; type < std::size(kTypes); type++) {
    const Codec* const codec = FindCodec(kTypes[type]);
    if (codec == nullptr) continue;
    for (const char* dictionary : {"", "the same words the same words"}) {
      std::string block;
      if (!codec->Compress(CompressionOptions(), dictionary, Text(700), &block)) continue;
      seeds->push_back(std::string{static_cast<char>(type), 2, 0} + ShortText(dictionary) + block);
      seeds->push_back(std::string{static_cast<char>(type), 0, 0} + ShortText(dictionary) + block);
      seeds->push_back(std::string{static_cast<char>(type), 2, 1} + ShortText(dictionary) +
                       Text(300));
    }
  }
}

void RoundTrip(const Codec& codec, const Slice& dictionary, const Slice& raw) {
  std::string block;
  if (!codec.Compress(CompressionOptions(), dictionary, raw, &block)) return;
  Room room;
  Slice back;
  const Status s = codec.Uncompress(dictionary, block, 5, kLimit, {Allocate, &room}, &back);
  Promise(s.ok() && back == raw, "what was compressed comes back");
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  fuzz::Input input(data, size);
  const varve::CompressionType type = fuzz::kTypes[input.Below(std::size(fuzz::kTypes))];
  const uint32_t version = fuzz::kVersions[input.Below(std::size(fuzz::kVersions))];
  const bool compress = input.Below(2) == 1;
  const varve::Codec* const codec = varve::FindCodec(type);
  if (codec == nullptr) return 0;
  const varve::Slice dictionary =
      varve::CodecSupportsDictionary(type) ? input.Short() : varve::Slice();
  if (compress) {
    fuzz::RoundTrip(*codec, dictionary, input.Rest());
    return 0;
  }
  fuzz::Room room;
  varve::Slice raw;
  const varve::Status s = codec->Uncompress(dictionary, input.Rest(), version, fuzz::kLimit,
                                            {fuzz::Allocate, &room}, &raw);
  fuzz::Note(s);
  if (s.ok()) {
    fuzz::Promise(raw.data() == room.bytes.get() && raw.size() == room.size,
                  "the result fills what was asked for");
  }
  return 0;
}

static const varve::fuzz::Register registered({"compressed_block", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 80});
