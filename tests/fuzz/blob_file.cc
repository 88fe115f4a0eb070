// SPDX-License-Identifier: Apache-2.0

// Fuzzes blob files and references: any bytes are refused or give the one value that a checksum
// covers; a decoded reference encodes to one that decodes to the same.

#include "tests/db/blob/blob_bytes.h"
#include "tests/fuzz/target.h"
#include "util/coding/crc32c.h"
#include "util/coding/fixed.h"

namespace varve::fuzz {
namespace {

void CheckReference(const Slice& encoded, BlobReference* reference) {
  const Status s = BlobReference::Decode(encoded, reference);
  Note(s);
  if (!s.ok()) return;
  std::string again;
  reference->EncodeTo(&again);
  BlobReference second;
  Promise(BlobReference::Decode(again, &second).ok() && second == *reference,
          "encoding brings the reference back");
  Note(BlobReference::DecodeInDatabase(encoded, &second));
}

// Puts records into a frame that is whole, so that most inputs get beyond it.
std::string FrameBlobs(const Slice& records) {
  char frame[BlobFileHeader::kBytes];
  BlobFileHeader().EncodeTo(frame);
  std::string file(frame, sizeof(frame));
  file.append(records.data(), records.size());
  char footer[BlobFileFooter::kBytes];
  BlobFileFooter().EncodeTo(footer);
  return file.append(footer, sizeof(footer));
}

void UseFile(const std::string& file, const Slice& key, BlobReference reference) {
  auto fs = std::make_shared<MemFileSystem>();
  Promise(testing::StoreBlobFile(fs.get(), file).ok(), "the file is stored");
  std::unique_ptr<BlobFileReader> reader;
  const Status opened = testing::OpenBlobFile(fs, 0, &reader);
  Note(opened);
  if (!opened.ok()) return;
  reference.kind = BlobReference::Kind::kBlob;
  reference.file_number = testing::kBlobNumber;
  const ReadOptions options;
  PinnableSlice one;
  const Status s = reader->Get(options, key, reference, nullptr, &one, nullptr);
  Note(s);
  BlobRead read;
  PinnableSlice many;
  read.user_key = key;
  read.reference = reference;
  read.value = &many;
  BlobRead* const reads[] = {&read};
  std::vector<BlobRead*> list(std::begin(reads), std::end(reads));
  reader->MultiGet(options, list);
  Promise(read.status.code() == s.code(), "one read and many agree");
  Promise(!s.ok() || one == many, "on the value, too");
  Note(reader->VerifyChecksums(options, nullptr));
  Note(reader->VerifyChecksums(options, nullptr, {reader->blob_count(), file.size()}));
}

std::string Seed(char whole, const Slice& key, const BlobReference& reference, const Slice& rest) {
  std::string encoded;
  reference.EncodeTo(&encoded);
  return std::string(1, whole) + ShortText(key.ToStringView()) + ShortText(encoded) +
         rest.ToString();
}

void MakeSeeds(Seeds* seeds) {
  for (const CompressionType type : {kNoCompression, kSnappyCompression, kZSTD}) {
    const testing::BlobPairs pairs = {{"k1", "hello"}, {"k3", std::string(100, 'w')}};
    std::vector<BlobReference> references;
    const std::string file = testing::BlobFileOf(pairs, type, &references);
    if (file.empty()) continue;
    for (size_t i = 0; i < pairs.size(); ++i) {
      seeds->push_back(Seed('\1', pairs[i].first, references[i], file));
      const Slice records(file.data() + BlobFileHeader::kBytes, file.size() - kBlobFileFrameBytes);
      seeds->push_back(Seed('\0', pairs[i].first, references[i], records));
    }
  }
  BlobReference expiring;
  expiring.kind = BlobReference::Kind::kBlobTtl;
  expiring.expiration = 1000;
  seeds->push_back(Seed('\0', "k", expiring, ""));
  expiring.kind = BlobReference::Kind::kInlinedTtl;
  seeds->push_back(Seed('\0', "k", expiring, ""));
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  fuzz::Input input(data, size);
  const bool whole = (input.Byte() & 1) != 0;
  const varve::Slice key = input.Short();
  varve::BlobReference reference;
  fuzz::CheckReference(input.Short(), &reference);
  const varve::Slice rest = input.Rest();
  fuzz::UseFile(whole ? rest.ToString() : fuzz::FrameBlobs(rest), key, reference);
  return 0;
}

static const varve::fuzz::Register registered({"blob_file", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 60});
