// SPDX-License-Identifier: Apache-2.0

// Fuzzes version edits: any bytes are refused or parsed, and a parsed edit encodes to an equal one.

#include "db/version/version_edit.h"

#include "tests/fuzz/edit_seeds.h"
#include "tests/fuzz/target.h"

namespace varve::fuzz {
namespace {

void MakeSeeds(Seeds* seeds) {
  for (const VersionEdit& edit : ManifestEdits()) {
    seeds->emplace_back();
    Promise(edit.EncodeTo(&seeds->back()), "edits can be encoded");
  }
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  const varve::Slice record(reinterpret_cast<const char*>(data), size);
  varve::VersionEdit edit;
  const varve::Status s = edit.DecodeFrom(record);
  fuzz::Note(s);
  const std::string text = edit.DebugString(true);
  std::string once;
  if (!s.ok() || !edit.EncodeTo(&once)) return 0;
  fuzz::Note(edit.new_files.size() << 8 | edit.deleted_files.size());
  varve::VersionEdit again;
  fuzz::Promise(again.DecodeFrom(once).ok(), "our encoding is read");
  fuzz::Promise(again.DebugString(true) == text, "and means the same");
  std::string twice;
  fuzz::Promise(again.EncodeTo(&twice) && twice == once, "and is written in the same way again");
  return 0;
}

static const varve::fuzz::Register registered({"version_edit", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 90});
