// SPDX-License-Identifier: Apache-2.0
#pragma once

// The common part of LevelDB's C API and RocksDB's, which grew out of it: writing and scanning,
// under names that differ in the prefix. Each engine reads single keys in its own way.

#include <array>
#include <string>

#include "benchmarks/c_library.h"
#include "benchmarks/compare/engine.h"

namespace compare {

// Ends the process with the message of a failed call; null: it has not failed.
inline void Check(char* error) {
  if (error != nullptr) c_library::Die(error);
}

// Holds an open database, with the options of its calls. The options are never freed.
struct Handles {
  c_library::Opaque* db = nullptr;
  c_library::Opaque* reads = nullptr;
  std::array<c_library::Opaque*, 3> writes = {};  // by Durability
};

// Holds the functions, looked up once. The library must outlive it.
struct LevelDbCalls {
  explicit LevelDbCalls(const c_library::Library& library);

  using Opaque = c_library::Opaque;
  void (*put)(Opaque*, Opaque*, const char*, size_t, const char*, size_t, char**);
  Opaque* (*new_batch)();
  void (*end_batch)(Opaque*);
  void (*batch_clear)(Opaque*);
  void (*batch_put)(Opaque*, const char*, size_t, const char*, size_t);
  void (*write)(Opaque*, Opaque*, Opaque*, char**);
  Opaque* (*new_iterator)(Opaque*, Opaque*);
  void (*end_iterator)(Opaque*);
  void (*seek)(Opaque*, const char*, size_t);
  void (*to_first)(Opaque*);
  void (*to_last)(Opaque*);
  void (*next)(Opaque*);
  void (*previous)(Opaque*);
  unsigned char (*valid)(Opaque*);
  const char* (*key)(Opaque*, size_t*);
  const char* (*value)(Opaque*, size_t*);
  void (*iterator_error)(Opaque*, char**);
};

// The session of such a library, except for reads of single keys. `calls` and `handles` are not
// owned and must outlive it.
class LevelDbCallsSession : public Session {
 public:
  LevelDbCallsSession(const LevelDbCalls& calls, const Handles& handles);
  ~LevelDbCallsSession() override;
  void Put(std::string_view key, std::string_view value, Durability durability) final;
  void BatchPut(std::string_view key, std::string_view value) final;
  void BatchWrite(Durability durability) final;
  uint64_t Scan(std::string_view from, uint64_t limit, bool forward, Digest* digest) final;

 private:
  c_library::Opaque* Writes(Durability durability) const {
    return handles_.writes[static_cast<size_t>(durability)];
  }

  const LevelDbCalls& calls_;
  const Handles& handles_;
  c_library::Opaque* const batch_;
};

}  // namespace compare
