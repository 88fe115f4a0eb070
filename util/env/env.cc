// SPDX-License-Identifier: Apache-2.0
// Implements the defaults of Env and its file types.

#include "varve/env.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <random>

#include "varve/file_system.h"
#include "varve/system_clock.h"

#include "util/base/declared_names.h"
#include "util/env/env_adapters.h"
#include "util/env/info_log.h"
#include "util/env/posix_fd.h"

namespace varve {

namespace {

// Returns 16 bytes of entropy from several sources, so that a broken one cannot make ids collide.
// The kernel's bytes are mixed with a generator that is seeded by the hardware, two clocks, the
// process and the thread. A container that was cloned from a snapshot may repeat the kernel's
// state, but not the clocks.
std::array<uint64_t, 2> RandomBits() {
  std::array<uint64_t, 2> bits = {};
  const PosixFd source(OpenRetrying("/dev/urandom", O_RDONLY | O_CLOEXEC, 0));
  if (source.valid()) {
    size_t got = 0;
    std::array<char, sizeof(bits)> raw = {};
    if (PreadFully(source.get(), "/dev/urandom", 0, raw.size(), raw.data(), &got).ok()) {
      for (size_t i = 0; i < raw.size(); ++i) {
        bits[i / 8] |= uint64_t{static_cast<unsigned char>(raw[i])} << (i % 8 * 8);
      }
    }
  }
  const auto& clock = SystemClock::Default();
  std::seed_seq seed{static_cast<uint64_t>(std::random_device()()), clock->NowNanos(),
                     clock->NowMicros(), static_cast<uint64_t>(::getpid()),
                     static_cast<uint64_t>(::syscall(SYS_gettid))};
  std::mt19937_64 generator(seed);
  for (uint64_t& word : bits) word ^= generator();
  return bits;
}

}  // namespace

Env::Env() : file_system_(NewEnvFileSystem(this)), system_clock_(NewEnvClock(this)) {}

Env::Env(const std::shared_ptr<FileSystem>& fs)
    : file_system_(fs), system_clock_(NewEnvClock(this)) {}

Env::Env(const std::shared_ptr<FileSystem>& fs, const std::shared_ptr<SystemClock>& clock)
    : file_system_(fs), system_clock_(clock) {}

Env::~Env() = default;

Status Env::RegisterDbPaths(const std::vector<std::string>&) {
  return Status::OK();
}

Status Env::UnregisterDbPaths(const std::vector<std::string>&) {
  return Status::OK();
}

Status Env::ReopenWritableFile(const std::string&, std::unique_ptr<WritableFile>* result,
                               const EnvOptions&) {
  result->reset();
  return Status::NotSupported("Env::ReopenWritableFile", Name());
}

Status Env::ReuseWritableFile(const std::string& fname, const std::string& old_fname,
                              std::unique_ptr<WritableFile>* result, const EnvOptions& options) {
  result->reset();
  Status s = RenameFile(old_fname, fname);
  return s.ok() ? NewWritableFile(fname, result, options) : s;
}

Status Env::NewRandomRWFile(const std::string&, std::unique_ptr<RandomRWFile>* result,
                            const EnvOptions&) {
  result->reset();
  return Status::NotSupported("Env::NewRandomRWFile", Name());
}

Status Env::NewMemoryMappedFileBuffer(const std::string&,
                                      std::unique_ptr<MemoryMappedFileBuffer>* result) {
  result->reset();
  return Status::NotSupported("Env::NewMemoryMappedFileBuffer", Name());
}

// A file may be deleted between the listing and the question for its size. Such a file is left out.
// After any other error the whole call fails, since a caller that sums sizes must not take a part
// for the total.
Status Env::GetChildrenFileAttributes(const std::string& dir, std::vector<FileAttributes>* result) {
  result->clear();
  std::vector<std::string> names;
  Status s = GetChildren(dir, &names);
  if (!s.ok()) return s;
  for (std::string& name : names) {
    const std::string path = dir + "/" + name;
    uint64_t size = 0;
    s = GetFileSize(path, &size);
    if (s.ok()) {
      result->push_back(FileAttributes{std::move(name), size});
    } else if (!FileExists(path).IsNotFound()) {
      result->clear();
      return s;
    }
  }
  return Status::OK();
}

Status Env::Truncate(const std::string&, size_t) {
  return Status::NotSupported("Env::Truncate", Name());
}

Status Env::LinkFile(const std::string&, const std::string&) {
  return Status::NotSupported("Env::LinkFile", Name());
}

Status Env::NumFileLinks(const std::string&, uint64_t*) {
  return Status::NotSupported("Env::NumFileLinks", Name());
}

Status Env::AreFilesSame(const std::string&, const std::string&, bool*) {
  return Status::NotSupported("Env::AreFilesSame", Name());
}

std::string Env::PriorityToString(Priority priority) {
  switch (priority) {
    case BOTTOM:
      return "Bottom";
    case LOW:
      return "Low";
    case HIGH:
      return "High";
    case USER:
      return "User";
    case TOTAL:
      break;
  }
  return "Invalid";
}

// Numbers from 0x80 to 0xfe are the program's own (kCustomIOActivity80 and so on), and their names
// end in the two hexadecimal digits. What lies between the known activities and those is a number
// of a newer version.
std::string Env::IOActivityToString(IOActivity activity) {
  constexpr auto& kNames =
      kEnumeratorNames<IOActivity,
                       static_cast<size_t>(IOActivity::kGetFileChecksumsFromCurrentManifest) + 1>;
  const auto number = static_cast<unsigned>(activity);
  if (number < kNames.size()) return kNames[number].data() + 1;  // Without the k.
  if (activity == IOActivity::kUnknown) return "Unknown";
  if (number < 0x80) return "Invalid";
  static constexpr char kDigits[] = "0123456789ABCDEF";
  char name[] = "CustomIOActivity00";
  name[sizeof(name) - 3] = kDigits[number >> 4];
  name[sizeof(name) - 2] = kDigits[number & 15];
  return name;
}

// The defaults from here on suit an Env that has no thread pools of its own: it never has a waiting
// job, a reserved thread or a queue.
int Env::UnSchedule(void*, Priority) {
  return 0;
}

int Env::ReserveThreads(int, Priority) {
  return 0;
}

int Env::ReleaseThreads(int, Priority) {
  return 0;
}

unsigned int Env::GetThreadPoolQueueLen(Priority) const {
  return 0;
}

Status Env::NewLogger(const std::string& fname, std::shared_ptr<Logger>* result) {
  return NewFileLogger(file_system_.get(), system_clock_, fname, IOOptions(), result, nullptr);
}

Status Env::GetHostNameString(std::string* result) {
  std::array<char, 257> name = {};
  Status s = GetHostName(name.data(), name.size() - 1);
  if (s.ok()) *result = name.data();
  return s;
}

Status Env::SetAllowNonOwnerAccess(bool) {
  return Status::NotSupported("Env::SetAllowNonOwnerAccess", Name());
}

void Env::LowerThreadPoolIOPriority(Priority) {}

void Env::LowerThreadPoolCPUPriority(Priority) {}

Status Env::LowerThreadPoolCPUPriority(Priority, CpuPriority) {
  return Status::NotSupported("Env::LowerThreadPoolCPUPriority", Name());
}

// Returns 8-4-4-4-12 hexadecimal digits, in the order of the two words from their high ends.
std::string Env::GenerateUniqueId() {
  std::array<uint64_t, 2> bits = RandomBits();
  // Version 4 (random), variant 1, at their positions in RFC 4122.
  bits[0] = (bits[0] & ~uint64_t{0xF000}) | 0x4000;
  bits[1] = (bits[1] & ~(uint64_t{3} << 62)) | (uint64_t{2} << 62);
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (int digit = 0; digit < 32; ++digit) {
    if (digit == 8 || digit == 12 || digit == 16 || digit == 20) out.push_back('-');
    out.push_back(kDigits[(bits[digit / 16] >> (60 - digit % 16 * 4)) & 15]);
  }
  return out;
}

EnvOptions Env::OptimizeForLogRead(const EnvOptions& env_options) const {
  EnvOptions out = env_options;
  out.use_direct_reads = false;
  return out;
}

EnvOptions Env::OptimizeForManifestRead(const EnvOptions& env_options) const {
  EnvOptions out = env_options;
  out.use_direct_reads = false;
  return out;
}

EnvOptions Env::OptimizeForManifestWrite(const EnvOptions& env_options) const {
  return env_options;
}

EnvOptions Env::OptimizeForCompactionTableWrite(const EnvOptions& env_options,
                                                const ImmutableDBOptions&) const {
  return env_options;
}

EnvOptions Env::OptimizeForCompactionTableRead(const EnvOptions& env_options,
                                               const ImmutableDBOptions&) const {
  return env_options;
}

EnvOptions Env::OptimizeForBlobFileRead(const EnvOptions& env_options,
                                        const ImmutableDBOptions&) const {
  return env_options;
}

Status Env::GetThreadList(std::vector<ThreadStatus>*) {
  return Status::NotSupported("Env::GetThreadList", Name());
}

uint64_t Env::GetThreadID() const {
  return static_cast<uint64_t>(::syscall(SYS_gettid));
}

Status Env::GetFreeSpace(const std::string&, uint64_t*) {
  return Status::NotSupported("Env::GetFreeSpace", Name());
}

Status Env::IsDirectory(const std::string&, bool*) {
  return Status::NotSupported("Env::IsDirectory", Name());
}

void Env::SanitizeEnvOptions(EnvOptions*) const {}

EnvWrapper::EnvWrapper(Env* target) : target_(target) {}
EnvWrapper::EnvWrapper(std::unique_ptr<Env>&& target) : target_(std::move(target)) {}
EnvWrapper::EnvWrapper(const std::shared_ptr<Env>& target) : target_(target) {}
EnvWrapper::~EnvWrapper() = default;

Status SequentialFile::InvalidateCache(size_t, size_t) {
  return Status::NotSupported("SequentialFile::InvalidateCache");
}

Status SequentialFile::PositionedRead(uint64_t, size_t, Slice*, char*) {
  return Status::NotSupported("SequentialFile::PositionedRead");
}

Status RandomAccessFile::Prefetch(uint64_t, size_t) {
  return Status::OK();
}

Status RandomAccessFile::MultiRead(ReadRequest* reqs, size_t num_reqs) {
  for (size_t i = 0; i < num_reqs; ++i) {
    ReadRequest& r = reqs[i];
    r.status = Read(r.offset, r.len, &r.result, r.scratch);
  }
  return Status::OK();
}

size_t RandomAccessFile::GetUniqueId(char*, size_t) const {
  return 0;
}

void RandomAccessFile::Hint(AccessPattern) {}

Status RandomAccessFile::InvalidateCache(size_t, size_t) {
  return Status::NotSupported("RandomAccessFile::InvalidateCache");
}

Status RandomAccessFile::GetFileSize(uint64_t*) {
  return Status::NotSupported("RandomAccessFile::GetFileSize");
}

Status WritableFile::Append(const Slice& data, const DataVerificationInfo&) {
  return Append(data);
}

Status WritableFile::PositionedAppend(const Slice&, uint64_t) {
  return Status::NotSupported("WritableFile::PositionedAppend");
}

Status WritableFile::PositionedAppend(const Slice& data, uint64_t offset,
                                      const DataVerificationInfo&) {
  return PositionedAppend(data, offset);
}

Status WritableFile::Truncate(uint64_t) {
  return Status::OK();
}

size_t WritableFile::GetUniqueId(char*, size_t) const {
  return 0;
}

Status WritableFile::InvalidateCache(size_t, size_t) {
  return Status::NotSupported("WritableFile::InvalidateCache");
}

Status WritableFile::RangeSync(uint64_t, uint64_t) {
  return strict_bytes_per_sync_ ? Sync() : Status::OK();
}

// Does the same as FSWritableFile::PrepareWrite (file_system.cc), with this file's own counter.
void WritableFile::PrepareWrite(size_t offset, size_t len) {
  const size_t block = preallocation_block_size_;
  if (block == 0) return;
  const size_t blocks_needed = (offset + len) / block + ((offset + len) % block != 0 ? 1 : 0);
  if (blocks_needed <= last_preallocated_block_) return;
  const size_t first = last_preallocated_block_;
  last_preallocated_block_ = blocks_needed;
  // Preallocation is an optimisation; the write itself reports a full disk.
  (void)Allocate(first * block, (blocks_needed - first) * block).ok();
}

Status WritableFile::Allocate(uint64_t, uint64_t) {
  return Status::OK();
}

MemoryMappedFileBuffer::~MemoryMappedFileBuffer() = default;

Status Directory::Close() {
  return Status::NotSupported("Directory::Close");
}

size_t Directory::GetUniqueId(char*, size_t) const {
  return 0;
}

FileLock::~FileLock() = default;

}  // namespace varve
