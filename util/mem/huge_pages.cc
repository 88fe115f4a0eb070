// SPDX-License-Identifier: Apache-2.0

// Makes anonymous mappings; those for huge pages are trimmed to their alignment.

#include "util/mem/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace varve {

namespace {

char* Map(size_t bytes) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                            /*fd=*/-1, /*offset=*/0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  return static_cast<char*>(mapped);
}

}  // namespace

char* AllocatePages(size_t bytes) {
  char* const data = Map(bytes);
#ifdef MADV_NOHUGEPAGE
  // Some systems use huge pages wherever they can.
  (void)madvise(data, bytes, MADV_NOHUGEPAGE);
#endif
  return data;
}

char* AllocateHugePages(size_t bytes) {
  // The system aligns mappings to small pages only: map more and unmap the ends.
  const size_t padded = bytes + kHugePageBytes;
  if (padded < bytes) throw std::bad_alloc();
  char* const begin = Map(padded);
  // The distance to the next multiple of a huge page: the negated address, modulo its size.
  const size_t head = (~reinterpret_cast<uintptr_t>(begin) + 1) & (kHugePageBytes - 1);
  if (head != 0) munmap(begin, head);
  char* const data = begin + head;
  const size_t tail = padded - head - bytes;
  if (tail != 0) munmap(data + bytes, tail);
#ifdef MADV_HUGEPAGE
  // This is a hint: a kernel without huge pages refuses it without harm.
  (void)madvise(data, bytes, MADV_HUGEPAGE);
#endif
  return data;
}

void FreePages(char* data, size_t bytes) {
  munmap(data, bytes);
}

}  // namespace varve
