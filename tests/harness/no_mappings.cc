// SPDX-License-Identifier: Apache-2.0

// Replaces mmap for the whole program. Calls that are not refused go to the next function of that
// name, which in a sanitizer build is the sanitizer's.

#include "tests/harness/no_mappings.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>

#include "util/mem/huge_pages.h"
#include "util/mem/warm_pages.h"

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

// Arenas would otherwise get the memory of earlier ones.
NoMappings::NoMappings() {
  const auto free_warm = [](size_t bytes) {
    while (char* const piece = WarmPages::Default().Take(bytes)) FreePages(piece, bytes);
  };
  for (size_t n = WarmPages::kLeastBytes; n < kHugePageBytes; n *= 2) free_warm(n);
  for (size_t n = kHugePageBytes; n <= WarmPages::kMostBytes; n += kHugePageBytes) free_warm(n);
  t_refuses = true;
}

NoMappings::~NoMappings() {
  t_refuses = false;
}

uint64_t NoMappings::refused() {
  return g_refused.load(std::memory_order_relaxed);
}

}  // namespace varve
