// SPDX-License-Identifier: Apache-2.0

// Fuzzes the file of a copy plan: any bytes are refused, or name only files that the plan's backup
// can have, and encode to the same contents. Bytes are tried as they are, and as the body of a file
// whose checksum is right.

#include "db/backup/plan_file.h"
#include "tests/fuzz/target.h"
#include "util/coding/crc32c.h"

namespace varve::fuzz {
namespace {

std::string Sealed(const std::string& body) {
  return body + "crc32c " + std::to_string(crc32c::Value(body.data(), body.size())) + "\n";
}

void MakeSeeds(Seeds* seeds) {
  PlanContents contents;
  contents.meta.id = 3;
  contents.meta.timestamp = 1700000000;
  contents.meta.sequence = 77;
  for (const char* const path :
       {"private/3/CURRENT", "private/3/MANIFEST-000005", "private/3/000008.log",
        "shared_checksum/000009_sABCDEFGHIJKLMNOPQRST_1234.sst"}) {
    BackupFile file;
    file.path = path;
    Promise(ParseBackupPath(path, contents.meta.id, &file.parsed), "a seed's path is one");
    file.crc32c = 123456789;
    file.size = 1234;
    contents.meta.files.push_back(file);
  }
  contents.brought = {0, 1, 2};
  contents.catalog_bytes = EncodeBackupMeta(contents.meta, 2);
  const std::string text = EncodePlan(contents);
  seeds->push_back(text);
  seeds->push_back(text.substr(0, text.rfind("crc32c ")));
  const std::string unsealed = text.substr(0, text.find("// FOOTER"));
  seeds->push_back(unsealed);
  seeds->push_back("varve_copy_plan 1\n3\n1\n../x\n1\n2\n1\nprivate/3/../4/CURRENT crc32 5\n");
}

void CheckText(const std::string& text) {
  PlanContents contents;
  const Status s = DecodePlan(text, "PLAN", &contents);
  Note(s);
  if (!s.ok()) return;
  Note(contents.brought.size());
  for (const size_t i : contents.brought) {
    Promise(i < contents.meta.files.size(), "what is brought is listed");
    const std::string& name = contents.meta.files[i].parsed.db_name;
    Promise(!name.empty() && name.find('/') == std::string::npos && name != "..",
            "names stay within the plan");
  }
  PlanContents again;
  Promise(DecodePlan(EncodePlan(contents), "PLAN", &again).ok() &&
              again.brought == contents.brought && again.catalog_bytes == contents.catalog_bytes,
          "what was read is written and read again");
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::CheckText(text);
  fuzz::CheckText(fuzz::Sealed(text));
  return 0;
}

static const varve::fuzz::Register registered({"copy_plan", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 40});
