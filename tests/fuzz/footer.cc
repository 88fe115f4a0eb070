// SPDX-License-Identifier: Apache-2.0

// Fuzzes table footers: any bytes are refused, or give handles inside the file; a decoded footer
// encodes to one that decodes to the same.

#include "table/format/footer.h"

#include "tests/fuzz/target.h"

namespace varve::fuzz {
namespace {

constexpr uint64_t kTail = 1000;

bool Same(const Footer& a, const Footer& b) {
  return a.format_version == b.format_version && a.checksum == b.checksum &&
         a.metaindex == b.metaindex && a.index == b.index &&
         a.base_context_checksum == b.base_context_checksum;
}

void CheckEncoding(const Footer& footer, uint64_t offset) {
  std::string again;
  footer.EncodeTo(offset, &again);
  Footer second;
  Promise(second.DecodeFrom(again, offset).ok() && Same(footer, second), "encoding brings it back");
}

void MakeSeeds(Seeds* seeds) {
  for (const uint32_t version : {0u, 1u, 2u, 5u, 6u, 7u}) {
    for (const ChecksumType checksum : {kCRC32c, kXXH3}) {
      Footer footer;
      footer.format_version = version;
      footer.checksum = checksum;
      footer.index = {100, 200};
      footer.metaindex = {kTail - 105, 100};
      if (Footer::UsesContext(version)) {
        footer.index = {};
        footer.base_context_checksum = 1234567;
      }
      seeds->emplace_back();
      footer.EncodeTo(kTail, &seeds->back());
    }
  }
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  varve::Footer footer;
  const varve::Slice tail(reinterpret_cast<const char*>(data), size);
  const varve::Status s = footer.DecodeFrom(tail, fuzz::kTail);
  fuzz::Note(s);
  if (!s.ok()) return 0;
  const uint64_t offset = fuzz::kTail + size - footer.length();
  fuzz::Promise(footer.metaindex.FitsIn(offset), "the metaindex lies in the file");
  fuzz::Promise(footer.index.IsNull() || footer.index.FitsIn(offset), "the index, too");
  // The legacy form has no other checksum, and an encoder writes only what is known.
  if (footer.format_version > 0) fuzz::CheckEncoding(footer, offset);
  return 0;
}

static const varve::fuzz::Register registered({"footer", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 30});
