// SPDX-License-Identifier: Apache-2.0

// Fuzzes names in a database's directory: any name is none of ours, or one that we would write for
// the same number.

#include "tests/fuzz/target.h"
#include "util/env/file_names.h"

namespace varve::fuzz {
namespace {

void MakeSeeds(Seeds* seeds) {
  for (const uint64_t number : {uint64_t{7}, uint64_t{123456789}, UINT64_MAX}) {
    for (const std::string& path :
         {LogFileName("", number), TableFileName("", number), LevelDbTableFileName("", number),
          DescriptorFileName("", number), TempFileName("", number), OptionsFileName("", number),
          OptionsFileName("", number) + ".dbtmp", "/" + std::to_string(number) + ".blob"}) {
      seeds->push_back(path.substr(1));
    }
  }
  for (const char* name : {"CURRENT", "LOCK", "IDENTITY", "LOG", "LOG.old.123", "lost", ".."}) {
    seeds->emplace_back(name);
  }
}

// Returns true if the number's text in a name, without leading zeros, is the number.
bool NamesNumber(const std::string& name, uint64_t number) {
  return name.find(std::to_string(number)) != std::string::npos;
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  const std::string name(reinterpret_cast<const char*>(data), size);
  uint64_t number = 0;
  varve::FileType type = varve::kTempFile;
  if (!varve::ParseFileName(name, &number, &type)) return 0;
  fuzz::Note(static_cast<uint64_t>(type));
  fuzz::Promise(name.find('/') == std::string::npos, "a name has no directory in it");
  const bool numbered = type == varve::kTableFile || type == varve::kWalFile ||
                        type == varve::kDescriptorFile || type == varve::kOptionsFile;
  if (numbered) fuzz::Promise(fuzz::NamesNumber(name, number), "the number is in the name");
  (void)varve::ParseFileName(name, "other_LOG", &number, &type);
  return 0;
}

static const varve::fuzz::Register registered({"file_name", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 30});
