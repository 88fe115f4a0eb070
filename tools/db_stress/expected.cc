// SPDX-License-Identifier: Apache-2.0

// The file of expected states:
//
//      Header | states: families x keys x 8 bytes | floors: the same
//
// MAP_SHARED makes each store visible to the parent and to the next child at once, whatever becomes
// of the process that made it. Only a power failure would lose them, and none is simulated.

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
  // A new file is all zeros, which means that no key was ever written. The size of an old one must
  // fit exactly, as the positions of keys depend on the numbers of families and keys.
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
  // The product alone may agree by chance: 2 families of 50 keys take as much room as 1 of 100.
  if (header_->magic == kMagic && header_->families == families && header_->keys == keys) {
    return true;
  }
  std::fprintf(stderr, "%s: of another run\n", path.c_str());
  return false;
}

}  // namespace varve::stress
