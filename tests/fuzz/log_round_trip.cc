// SPDX-License-Identifier: Apache-2.0

// Checks that records are read from a log as they were written, in every mode and form; and that a
// log which is cut anywhere gives some of the first records, unchanged.

#include <algorithm>

#include "tests/fuzz/log_bytes.h"
#include "tests/fuzz/target.h"

namespace varve::fuzz {
namespace {

void MakeSeeds(Seeds* seeds) {
  for (char bits = 0; bits < 4; bits++) {
    seeds->push_back(std::string{bits, 2, 0} + LongText("one") + LongText("two") +
                     LongText(std::string(400, '3')) + LongText(""));
    seeds->push_back(std::string{bits, 1, 1} + LongText(std::string(32755, 'a')) +
                     LongText(std::string(1000, 'b')) + LongText("c"));
  }
}

void CheckCut(const std::string& log, const Seeds& records, uint64_t number, size_t keep) {
  const LogReading cut =
      ReadLogBytes(Slice(log.data(), keep), WALRecoveryMode::kPointInTimeRecovery, number);
  Promise(cut.records.size() <= records.size() &&
              std::equal(cut.records.begin(), cut.records.end(), records.begin()),
          "a log that was cut gives its first records");
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  fuzz::Input input(data, size);
  const uint32_t bits = input.Byte();
  varve::wal::LogWriterOptions options;
  options.recyclable = (bits & 1) != 0;
  options.compression = (bits & 2) != 0 ? varve::kZSTD : varve::kNoCompression;
  varve::wal::TimestampSizes sizes;
  const uint32_t families = input.Below(5);
  const uint32_t cut = input.Byte();
  for (uint32_t i = 0; i < families; i++) sizes[i * 3] = 8 + i;
  fuzz::Seeds records;
  while (!input.empty()) records.push_back(input.Long().ToString());
  const uint64_t number = 1 + bits;
  std::string log;
  const varve::Status s = fuzz::WriteLogBytes(records, options, number, sizes, &log);
  fuzz::Note(s);
  if (!s.ok()) return 0;
  for (const varve::WALRecoveryMode mode : fuzz::kRecoveryModes) {
    const fuzz::LogReading reading = fuzz::ReadLogBytes(log, mode, number);
    fuzz::Promise(reading.records == records, "a log gives what was written");
    fuzz::Promise(reading.sizes == sizes || records.empty(), "and the sizes of timestamps");
    fuzz::Promise(reading.damage.dropped_bytes == 0, "and nothing is damaged");
  }
  fuzz::Note(records.size());
  fuzz::CheckCut(log, records, number, log.size() * cut / 256);
  return 0;
}

static const varve::fuzz::Register registered({"log_round_trip", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 20});
