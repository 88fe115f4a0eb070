// SPDX-License-Identifier: Apache-2.0
#include "tools/db_stress/expected.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace varve::stress {

namespace {

constexpr uint64_t kMagic = 0x7374726573733031;

}  // namespace

Expected::~Expected() {
  if (header_ != nullptr) munmap(header_, bytes_);
}

bool Expected::Open(const std::string& path, uint32_t families, uint64_t keys) {
  bytes_ = sizeof(Header) + 2 * families * keys * sizeof(std::atomic<uint64_t>);
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  struct stat info = {};
  const bool there = fd >= 0 && fstat(fd, &info) == 0;
  const bool fresh = there && info.st_size == 0;
  void* memory = MAP_FAILED;
  if (there && (!fresh || ftruncate(fd, static_cast<off_t>(bytes_)) == 0) &&
      (fresh || static_cast<size_t>(info.st_size) == bytes_)) {
    memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  if (fd >= 0) close(fd);
  if (memory == MAP_FAILED) {
    std::fprintf(stderr, "%s: cannot be mapped, or is of another number of keys\n", path.c_str());
    return false;
  }
  header_ = static_cast<Header*>(memory);
  states_ = reinterpret_cast<std::atomic<uint64_t>*>(header_ + 1);
  floors_ = states_ + families * keys;
  if (fresh) {
    header_->magic = kMagic;
    header_->families = families;
    header_->keys = keys;
    SetFamilyInQuestion(kNoFamily);
  }
  if (header_->magic == kMagic && header_->families == families && header_->keys == keys) {
    return true;
  }
  std::fprintf(stderr, "%s: of another run\n", path.c_str());
  return false;
}

}  // namespace varve::stress
