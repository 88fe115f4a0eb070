// SPDX-License-Identifier: Apache-2.0
#include "db/recovery/identity.h"

#include <unistd.h>

#include <cstdint>
#include <random>

#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/coding/hash.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"

namespace varve {

namespace {

// An id has 36 bytes, but other writers may append some.
constexpr uint64_t kIdentityBytesMax = 4096;

// Returns 64 bits from independent sources, so that one bad source does not make ids repeat.
uint64_t Entropy(Env* env, uint64_t salt) {
  std::random_device device;
  const uint64_t words[] = {(uint64_t{device()} << 32) | device(), env->NowNanos(),
                            static_cast<uint64_t>(getpid()),       env->GetThreadID(),
                            reinterpret_cast<uintptr_t>(&device),  salt};
  return KeyHash64(reinterpret_cast<const char*>(words), sizeof(words));
}

}  // namespace

std::string NewDbId(Env* env) {
  static const char kHex[] = "0123456789abcdef";
  const uint64_t halves[] = {Entropy(env, 1), Entropy(env, 2)};
  std::string id;
  for (size_t i = 0; i < 32; i++) {
    uint64_t digit = halves[i / 16] >> (4 * (i % 16)) & 0xf;
    if (i == 12) digit = 4;                    // Version: random.
    if (i == 16) digit = (digit & 0x3) | 0x8;  // Variant.
    if (i == 8 || i == 12 || i == 16 || i == 20) id.push_back('-');
    id.push_back(kHex[digit]);
  }
  VARVE_ASSERT(id.size() == 36);
  return id;
}

std::string NewSessionId(Env* env) {
  static const char kDigits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  // The last 12 digits hold 62 bits, the first 8 hold 41 more, which fits without overflow.
  uint64_t low = Entropy(env, 3) >> 2;
  uint64_t high = Entropy(env, 4) % 2821109907456ull;  // 36^8
  std::string id(20, '0');
  for (size_t i = 20; i > 8; i--, low /= 36) id[i - 1] = kDigits[low % 36];
  for (size_t i = 8; i > 0; i--, high /= 36) id[i - 1] = kDigits[high % 36];
  VARVE_ASSERT(low == 0 && high == 0);
  return id;
}

Status ReadIdentity(FileSystem* fs, const std::string& db_name, std::string* id) {
  const std::string path = IdentityFileName(db_name);
  if (fs->FileExists(path, IOOptions(), nullptr).IsNotFound()) return Status::NotFound(path);
  VARVE_RETURN_IF_ERROR(ReadFileToString(fs, path, kIdentityBytesMax, id));
  while (!id->empty() && id->back() == '\n') id->pop_back();
  if (id->empty()) return Status::Corruption(path, "is empty");
  return Status::OK();
}

Status WriteIdentity(FileSystem* fs, const std::string& db_name, const std::string& id) {
  VARVE_ASSERT(!id.empty());
  return WriteFileDurably(fs, db_name, "000000.dbtmp", "IDENTITY", id);
}

}  // namespace varve
