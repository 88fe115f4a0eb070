// SPDX-License-Identifier: Apache-2.0
#include "tests/flat/process_counts.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <system_error>

namespace {

std::atomic<int64_t> g_blocks{0};
std::atomic<int64_t> g_bytes{0};

void* Counted(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  g_blocks.fetch_add(1, std::memory_order_relaxed);
  g_bytes.fetch_add(static_cast<int64_t>(malloc_usable_size(block)), std::memory_order_relaxed);
  return block;
}

void Free(void* block) noexcept {
  if (block == nullptr) return;
  g_blocks.fetch_sub(1, std::memory_order_relaxed);
  g_bytes.fetch_sub(static_cast<int64_t>(malloc_usable_size(block)), std::memory_order_relaxed);
  std::free(block);
}

}  // namespace

// The forms of operator new that are not replaced call these.
void* operator new(size_t size) {
  return Counted(std::malloc(std::max<size_t>(size, 1)));
}
void* operator new(size_t size, std::align_val_t alignment) {
  void* block = nullptr;
  const size_t at = std::max(static_cast<size_t>(alignment), sizeof(void*));
  return Counted(posix_memalign(&block, at, std::max<size_t>(size, 1)) == 0 ? block : nullptr);
}
void operator delete(void* block) noexcept {
  Free(block);
}
void operator delete(void* block, size_t) noexcept {
  Free(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  Free(block);
}
void operator delete(void* block, size_t, std::align_val_t) noexcept {
  Free(block);
}

namespace varve::testing {

namespace {

int64_t EntriesOf(const char* directory) {
  std::error_code error;
  return std::distance(std::filesystem::directory_iterator(directory, error), {});
}

int64_t LinesOf(const char* path) {
  std::ifstream file(path);
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

}  // namespace

Counts CountProcess() {
  Counts counts;
  counts["blocks"] = g_blocks.load(std::memory_order_relaxed);
  counts["bytes"] = g_bytes.load(std::memory_order_relaxed);
  counts["open files"] = EntriesOf("/proc/self/fd");
  counts["threads"] = EntriesOf("/proc/self/task");
  counts["mappings"] = LinesOf("/proc/self/maps");
  return counts;
}

int64_t CountEntries(const std::string& directory) {
  std::error_code error;
  return std::distance(std::filesystem::recursive_directory_iterator(directory, error), {});
}

}  // namespace varve::testing
