// SPDX-License-Identifier: Apache-2.0

// Fuzzes logged batches of families whose timestamps were switched on or off: any well-formed batch
// is refused, or becomes one with as many updates that needs no further change.

#include "db/recovery/timestamp_adapter.h"

#include "db/write/batch_reader.h"
#include "tests/fuzz/batch_seeds.h"
#include "tests/fuzz/target.h"

namespace varve::fuzz {
namespace {

// The first byte has the timestamps of the families now, and those in the log.
void MakeSeeds(Seeds* seeds) {
  for (char bits = 0; bits < 16; bits++) AddBatches(std::string(1, bits), seeds);
}

size_t SizeOf(uint32_t bits) {
  constexpr size_t kSizes[] = {0, 8, 8, 16};
  return kSizes[bits & 3];
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  fuzz::Input input(data, size);
  const uint32_t bits = input.Byte();
  const varve::Slice batch = input.Rest();
  if (!varve::CheckBatchStructure(batch).ok()) return 0;
  const size_t now = fuzz::SizeOf(bits);
  const size_t then = fuzz::SizeOf(bits >> 2);
  varve::wal::TimestampSizes recorded;
  if (then != 0) recorded = {{0, then}, {5, then}};
  varve::TimestampAdapter adapter({{0, {"default", now}}, {3, {"plain", 0}}, {5, {"five", now}}});
  std::string scratch;
  varve::Slice adapted;
  const varve::Status s = adapter.Adapt(batch, recorded, &scratch, &adapted);
  fuzz::Note(s);
  if (!s.ok()) return 0;
  fuzz::Promise(varve::CheckBatchStructure(adapted).ok(), "what comes out is well-formed");
  fuzz::Promise(varve::BatchReader(adapted).count() == varve::BatchReader(batch).count(),
                "with as many updates");
  if (now == then) fuzz::Promise(adapted == batch, "where nothing was switched nothing changes");
  return 0;
}

static const varve::fuzz::Register registered({"timestamp_adapter", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 60});
