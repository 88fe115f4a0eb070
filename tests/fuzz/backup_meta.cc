// SPDX-License-Identifier: Apache-2.0

// Fuzzes the list of files of a backup: any bytes are refused, or name only files that such a
// backup can have, and encode to the same contents.

#include "db/backup/backup_meta.h"

#include "tests/fuzz/target.h"

namespace varve::fuzz {
namespace {

void MakeSeeds(Seeds* seeds) {
  BackupMeta meta;
  meta.id = 3;
  meta.timestamp = 1700000000;
  meta.sequence = 77;
  meta.app_metadata = std::string("hi\n\0x", 5);
  for (const char* const path :
       {"private/3/CURRENT", "private/3/MANIFEST-000005", "private/3/000008.log",
        "shared/000010.sst", "shared_checksum/000009_sABCDEFGHIJKLMNOPQRST_1234.sst",
        "shared_checksum/000011_4294967295_99.sst"}) {
    BackupFile file;
    file.path = path;
    Promise(ParseBackupPath(path, meta.id, &file.parsed), "a seed's path is one");
    file.crc32c = 123456789;
    file.size = 1234;
    file.temperature = Temperature::kWarm;
    meta.files.push_back(file);
  }
  seeds->push_back(EncodeBackupMeta(meta, 1));
  meta.excluded.emplace_back("shared_checksum/000012_sABCDEFGHIJKLMNOPQRST_5.sst");
  seeds->push_back(EncodeBackupMeta(meta, 2));
  // Only a list without sizes may lack the checksum, which few changes of the others get past.
  for (BackupFile& file : meta.files) file.size.reset();
  const std::string text = EncodeBackupMeta(meta, 2);
  seeds->push_back(text.substr(0, text.find("// FOOTER")));
  seeds->push_back("1\n2\n1\nprivate/3/../4/CURRENT crc32 5\n");
}

bool IsSane(const BackupMeta& meta) {
  for (const BackupFile& file : meta.files) {
    if (file.path.find("..") != std::string::npos || file.path.starts_with('/')) return false;
    if (file.path != file.parsed.folder + "/" + file.parsed.file_name) return false;
    if (file.parsed.db_name.find('/') != std::string::npos || file.parsed.db_name.empty()) {
      return false;
    }
  }
  return true;
}

bool SaysTheSame(const BackupMeta& a, const BackupMeta& b) {
  bool same = a.timestamp == b.timestamp && a.sequence == b.sequence &&
              a.app_metadata == b.app_metadata && a.excluded == b.excluded &&
              a.files.size() == b.files.size();
  for (size_t i = 0; same && i < a.files.size(); i++) {
    same = a.files[i].path == b.files[i].path && a.files[i].size == b.files[i].size &&
           a.files[i].crc32c.value_or(0) == b.files[i].crc32c;
  }
  return same;
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  const varve::Slice text(reinterpret_cast<const char*>(data), size);
  varve::BackupMeta meta;
  const varve::Status s = varve::DecodeBackupMeta(text, 3, "meta/3", &meta);
  fuzz::Note(s);
  if (!s.ok()) return 0;
  fuzz::Note(meta.files.size());
  fuzz::Promise(fuzz::IsSane(meta), "paths stay within the backup");
  varve::BackupMeta again;
  fuzz::Promise(
      varve::DecodeBackupMeta(varve::EncodeBackupMeta(meta, 2), 3, "meta/3", &again).ok() &&
          fuzz::SaysTheSame(meta, again),
      "what was read is written and read again");
  return 0;
}

static const varve::fuzz::Register registered({"backup_meta", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 40});
