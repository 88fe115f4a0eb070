// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/c_api.h"

#include <dlfcn.h>

namespace varve::testing {

void* CallSource::Find(const char* name) {
  void* const found = dlsym(library_, (std::string("rocksdb_") + name).c_str());
  if (found == nullptr) missing_.emplace_back(name);
  return found;
}

}  // namespace varve::testing
