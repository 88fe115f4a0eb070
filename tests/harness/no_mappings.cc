// SPDX-License-Identifier: Apache-2.0

// Replaces mmap for the whole program. Calls that are not refused go to the next function of that
// name, which in a sanitizer build is the sanitizer's.

#include "tests/harness/no_mappings.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>

namespace {

thread_local bool t_refuses = false;
std::atomic<uint64_t> g_refused{0};

}  // namespace

extern "C" void* mmap(void* address, size_t bytes, int protection, int flags, int fd,
                      off_t offset) noexcept {
  using Mmap = void* (*)(void*, size_t, int, int, int, off_t);
  static const Mmap next = reinterpret_cast<Mmap>(dlsym(RTLD_NEXT, "mmap"));
  if (t_refuses && (flags & MAP_ANONYMOUS) != 0) {
    g_refused.fetch_add(1, std::memory_order_relaxed);
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return next(address, bytes, protection, flags, fd, offset);
}

namespace varve {

NoMappings::NoMappings() {
  t_refuses = true;
}

NoMappings::~NoMappings() {
  t_refuses = false;
}

uint64_t NoMappings::refused() {
  return g_refused.load(std::memory_order_relaxed);
}

}  // namespace varve
