// SPDX-License-Identifier: Apache-2.0

// Anonymous mappings trimmed to huge-page alignment.

#include "util/mem/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace varve {

char* AllocateHugePages(size_t bytes) {
  // The system aligns mappings to small pages only: ask for more and give the ends back.
  const size_t padded = bytes + kHugePageBytes;
  void* const mapped =
      mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (padded < bytes || mapped == MAP_FAILED) throw std::bad_alloc();
  char* const begin = static_cast<char*>(mapped);
  const size_t head = (~reinterpret_cast<uintptr_t>(begin) + 1) & (kHugePageBytes - 1);
  if (head != 0) munmap(begin, head);
  char* const data = begin + head;
  const size_t tail = padded - head - bytes;
  if (tail != 0) munmap(data + bytes, tail);
#ifdef MADV_HUGEPAGE
  // A hint: a kernel without huge pages refuses it and nothing is lost.
  (void)madvise(data, bytes, MADV_HUGEPAGE);
#endif
  return data;
}

void FreeHugePages(char* data, size_t bytes) {
  munmap(data, bytes);
}

}  // namespace varve
