// SPDX-License-Identifier: Apache-2.0

// Logs under all four recovery modes, with plain, recyclable and compressed records and records of
// timestamp sizes: any bytes are read to an end, and the strictest mode sees no record that the
// others do not.

#include <algorithm>

#include "tests/fuzz/log_bytes.h"
#include "tests/fuzz/sealing.h"
#include "tests/fuzz/target.h"

namespace varve::fuzz {
namespace {

constexpr uint64_t kNumber = 7;

void MakeSeeds(Seeds* seeds) {
  const std::vector<std::string> records = {"first", "", std::string(300, 'x'), "last"};
  const std::vector<std::string> long_records = {std::string(32761, 'a'), std::string(100, 'b'),
                                                 std::string(33000, 'c')};
  for (const bool recyclable : {false, true}) {
    for (const CompressionType compression : {kNoCompression, kZSTD}) {
      for (const bool stamped : {false, true}) {
        wal::LogWriterOptions options;
        options.recyclable = recyclable;
        options.compression = compression;
        const wal::TimestampSizes sizes =
            stamped ? wal::TimestampSizes{{1, 8}, {9, 16}} : wal::TimestampSizes();
        for (const auto* list : {&records, &long_records}) {
          std::string log;
          if (!WriteLogBytes(*list, options, kNumber, sizes, &log).ok()) continue;
          seeds->push_back(std::string(1, '\0') + log);
        }
      }
    }
  }
}

bool IsPrefix(const Seeds& shorter, const Seeds& longer) {
  return shorter.size() <= longer.size() &&
         std::equal(shorter.begin(), shorter.end(), longer.begin());
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  fuzz::Input input(data, size);
  const uint32_t bits = input.Byte();
  std::string log = input.Rest().ToString();
  if ((bits & 1) == 0) fuzz::SealLog(&log);
  const uint64_t number = (bits & 2) != 0 ? 0 : fuzz::kNumber;
  std::vector<fuzz::LogReading> readings;
  for (const varve::WALRecoveryMode mode : fuzz::kRecoveryModes) {
    readings.push_back(fuzz::ReadLogBytes(log, mode, number));
    fuzz::Note(readings.back().io_status);
    fuzz::Note(readings.back().records.size());
    fuzz::Note(varve::Status::Corruption(readings.back().damage.reason));
  }
  // The order is that of kRecoveryModes: the strict mode, and point in time.
  fuzz::Promise(fuzz::IsPrefix(readings[1].records, readings[2].records),
                "the strictest mode replays no more than a point in time");
  return 0;
}

static const varve::fuzz::Register registered({"log_reader", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 30});
