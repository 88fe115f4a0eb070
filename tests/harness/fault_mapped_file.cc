// SPDX-License-Identifier: Apache-2.0

// Implements the mapped files of a FaultFileSystem.

#include <utility>

#include "tests/harness/fault_file_system.h"

namespace varve {

namespace {

class FaultMappedFile final : public MappedFile {
 public:
  FaultMappedFile(FaultFileSystem* fs, std::string path, std::unique_ptr<MappedFile> target)
      : fs_(fs), path_(std::move(path)), target_(std::move(target)) {}

  IOStatus Map(uint64_t offset, size_t bytes, char** base) override {
    const FaultFileSystem::Verdict verdict = fs_->Judge(FaultCall::kAllocate, path_);
    if (Fails(verdict)) return verdict.error;
    if (fs_->TakeFromQuota(bytes) < bytes) {
      IOStatus full = IOStatus::NoSpace("allocate: " + path_, "the byte quota is used up");
      full.SetRetryable(true);
      return full;
    }
    return target_->Map(offset, bytes, base);
  }
  void Unmap(char* base, size_t bytes) override { target_->Unmap(base, bytes); }
  IOStatus Write(uint64_t offset, const Slice* parts, size_t count) override {
    const FaultFileSystem::Verdict verdict = fs_->Judge(FaultCall::kWrite, path_);
    std::string all;
    for (size_t i = 0; i < count; i++) all.append(parts[i].data(), parts[i].size());
    if (Fails(verdict)) {
      if (verdict.effect != FaultEffect::kShortWrite) return verdict.error;
      const Slice half(all.data(), all.size() / 2);
      IOStatus s = target_->Write(offset, &half, 1);
      return s.ok() ? verdict.error : s;
    }
    const Slice fits(all.data(), fs_->TakeFromQuota(all.size()));
    IOStatus s = target_->Write(offset, &fits, 1);
    if (!s.ok() || fits.size() == all.size()) return s;
    IOStatus full = IOStatus::NoSpace("write: " + path_, "the byte quota is used up");
    full.SetRetryable(true);
    return full;
  }
  IOStatus Sync(bool metadata) override {
    const FaultFileSystem::Verdict verdict = fs_->Judge(FaultCall::kSync, path_);
    if (Fails(verdict)) return verdict.error;
    const bool dropped = verdict.struck && verdict.effect == FaultEffect::kDropSync;
    return dropped ? IOStatus::OK() : target_->Sync(metadata);
  }
  IOStatus Truncate(uint64_t size) override {
    const FaultFileSystem::Verdict verdict = fs_->Judge(FaultCall::kTruncate, path_);
    return Fails(verdict) ? verdict.error : target_->Truncate(size);
  }
  IOStatus Close() override {
    const FaultFileSystem::Verdict verdict = fs_->Judge(FaultCall::kClose, path_);
    IOStatus s = target_->Close();
    return Fails(verdict) ? verdict.error : s;
  }

 private:
  // True if the call fails: effects meant only for reads and syncs do not apply to other calls.
  static bool Fails(const FaultFileSystem::Verdict& verdict) {
    return verdict.struck && verdict.effect != FaultEffect::kDropSync &&
           verdict.effect != FaultEffect::kCorruptRead && verdict.effect != FaultEffect::kShortRead;
  }

  FaultFileSystem* const fs_;
  const std::string path_;
  const std::unique_ptr<MappedFile> target_;
};

}  // namespace

IOStatus FaultFileSystem::NewMappedFile(const std::string& path, const FileOptions& options,
                                        std::unique_ptr<MappedFile>* result) {
  result->reset();
  if (!offers_mapped_files_) return IOStatus::NotSupported(path, "mapped files are switched off");
  IOStatus s = JudgeCreation(FaultCall::kCreate, path);
  if (s.ok()) s = varve::NewMappedFile(faultless_, path, options, result);
  if (s.ok()) *result = std::make_unique<FaultMappedFile>(this, path, std::move(*result));
  return s;
}

}  // namespace varve
