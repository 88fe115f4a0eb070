// SPDX-License-Identifier: Apache-2.0
#include "tests/harness/rocksdb_library.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tests/harness/source_root.h"

namespace varve::testing {

RocksDbLibrary* RocksDbLibrary::Get() {
  static RocksDbLibrary* const library = []() -> RocksDbLibrary* {
    const char* const named = std::getenv("VARVE_ROCKSDB_LIBRARY");
    std::filesystem::path path = named != nullptr ? named : VARVE_ROCKSDB_PATH;
    if (path.empty()) return nullptr;
    path = std::filesystem::path(SourceRoot()) / path;
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    return handle == nullptr ? nullptr : new RocksDbLibrary(handle);
  }();
  return library;
}

void* RocksDbLibrary::Find(const char* name) const {
  void* const symbol = dlsym(handle_, (std::string("rocksdb_") + name).c_str());
  if (symbol == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::abort();
  }
  return symbol;
}

void RocksDbLibrary::Take(char* text, std::string* error) {
  *error = text == nullptr ? "" : text;
  std::free(text);
}

}  // namespace varve::testing
