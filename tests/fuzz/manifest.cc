// SPDX-License-Identifier: Apache-2.0

// Fuzzes MANIFEST replay: any records are refused or make families whose trees hold together.

#include "db/version/manifest_replay.h"
#include "db/version/obsolete_file_queue.h"
#include "tests/fuzz/edit_seeds.h"
#include "tests/fuzz/log_bytes.h"
#include "tests/fuzz/sealing.h"
#include "tests/fuzz/target.h"
#include "util/env/mem_file_system.h"

namespace varve::fuzz {
namespace {

constexpr char kPath[] = "/db/MANIFEST-000001";

// First byte 0: the rest is a whole file, to be sealed. Else: records, each after its length.
void MakeSeeds(Seeds* seeds) {
  Seeds records;
  std::string list(1, '\1');
  for (const VersionEdit& edit : ManifestEdits()) {
    records.emplace_back();
    Promise(edit.EncodeTo(&records.back()), "edits can be encoded");
    list += LongText(records.back());
  }
  std::string file;
  Promise(WriteLogBytes(records, {}, 0, {}, &file).ok(), "a MANIFEST can be written");
  seeds->push_back(list);
  seeds->push_back(std::string(1, '\0') + file);
}

Status WriteFile(FileSystem* fs, const std::string& bytes) {
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = fs->CreateDirIfMissing("/db", IOOptions(), nullptr);
  if (s.ok()) s = fs->NewWritableFile(kPath, FileOptions(), &file, nullptr);
  if (s.ok()) s = file->Append(bytes, IOOptions(), nullptr);
  return s;
}

void Replay(const std::string& bytes) {
  MemFileSystem fs;
  Promise(WriteFile(&fs, bytes).ok(), "a file in memory can be written");
  std::vector<FamilyToOpen> wanted(2);
  wanted[0].name = "default";
  wanted[1].name = "second";
  for (FamilyToOpen& family : wanted) family.comparator = BytewiseComparator();
  ManifestReplay replay(kPath, &wanted, std::make_shared<ObsoleteFileQueue>());
  Status s = replay.Read(&fs, FileOptions());
  Note(s);
  if (!s.ok()) return;
  s = replay.CheckComplete();
  Note(s);
  Note(replay.families().size());
  for (auto& [id, family] : replay.families()) {
    Promise(id <= replay.max_family_id(), "no family is beyond the largest");
    Promise(family.versions != nullptr, "every family has versions");
  }
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  fuzz::Input input(data, size);
  std::string file;
  if (input.Byte() == 0) {
    file = input.Rest().ToString();
    fuzz::SealLog(&file);
  } else {
    fuzz::Seeds records;
    while (!input.empty()) records.push_back(input.Long().ToString());
    fuzz::Promise(fuzz::WriteLogBytes(records, {}, 0, {}, &file).ok(), "records can be written");
  }
  fuzz::Replay(file);
  return 0;
}

static const varve::fuzz::Register registered({"manifest", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 50});
