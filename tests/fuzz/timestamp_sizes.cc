// SPDX-License-Identifier: Apache-2.0

// Fuzzes records of timestamp sizes: any bytes are refused with nothing added, or encode to the
// same contents.

#include "db/wal/timestamp_sizes.h"

#include "tests/fuzz/target.h"

namespace varve::fuzz {
namespace {

void MakeSeeds(Seeds* seeds) {
  for (const auto& sizes :
       {wal::TimestampSizes{{0, 8}}, wal::TimestampSizes{{1, 8}, {2, 16}, {700, 65535}}}) {
    for (const std::string& payload : wal::EncodeTimestampSizes(sizes)) seeds->push_back(payload);
  }
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  varve::wal::TimestampSizes sizes = {{3, 8}};
  const varve::Slice payload(reinterpret_cast<const char*>(data), size);
  const varve::Status s = varve::wal::DecodeTimestampSizes(payload, &sizes);
  fuzz::Note(s);
  if (!s.ok()) {
    fuzz::Promise(sizes.size() == 1, "a refused record adds nothing");
    return 0;
  }
  varve::wal::TimestampSizes again;
  for (const std::string& part : varve::wal::EncodeTimestampSizes(sizes)) {
    fuzz::Promise(varve::wal::DecodeTimestampSizes(part, &again).ok(), "our encoding is read");
  }
  fuzz::Promise(again == sizes, "and says the same");
  return 0;
}

static const varve::fuzz::Register registered({"timestamp_sizes", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 20});
