// SPDX-License-Identifier: Apache-2.0

// Stores a checksum behind each value, and compares it whenever an entry is shown: memory may fail,
// and a stray write may change what no checksum of a file covers yet.

#include "memtable/protected_entries.h"

#include <cstring>
#include <utility>

#include "util/base/assert.h"
#include "util/coding/fixed.h"
#include "util/coding/hash.h"
#include "util/key/internal_key.h"

namespace varve {

namespace {

// The trailer seeds the hash of the value, so that an entry that has turned into another version of
// its key is detected as well.
uint64_t ChecksumOf(const Slice& user_key, uint64_t trailer, const Slice& value) {
  const uint64_t of_value = XXH3Hash64(value.data(), value.size(), trailer);
  return XXH3Hash64(user_key.data(), user_key.size(), of_value);
}

// Verifies each entry that it shows. Batches are not handed through: those of the base class are
// single steps, so that no entry gets out unverified.
class ProtectedIterator final : public InternalIterator {
 public:
  ProtectedIterator(std::unique_ptr<InternalIterator> walk, size_t bytes)
      : walk_(std::move(walk)), bytes_(bytes) {}

  void SeekToFirst() override {
    walk_->SeekToFirst();
    Show();
  }
  void SeekToLast() override {
    walk_->SeekToLast();
    Show();
  }
  void Seek(const Slice& target) override {
    walk_->Seek(target);
    Show();
  }
  void SeekForPrev(const Slice& target) override {
    walk_->SeekForPrev(target);
    Show();
  }
  void Next() override {
    walk_->Next();
    Show();
  }
  void Prev() override {
    walk_->Prev();
    Show();
  }
  Status status() const override { return damage_.ok() ? walk_->status() : damage_; }
  bool PinValue(Cleanable* pin) override { return walk_->PinValue(pin); }
  bool IsValuePinned() const override { return walk_->IsValuePinned(); }
  bool IsKeyPinned() const override { return walk_->IsKeyPinned(); }

 private:
  // The entries elsewhere may be whole, so damage ends a walk, but not the next seek.
  void Show() {
    damage_ = Status::OK();
    valid_ = walk_->Valid();
    if (!valid_) return;
    key_ = walk_->key();
    value_ = walk_->value();
    if (IsWhole()) {
      value_.remove_suffix(bytes_);
      return;
    }
    // The sequence number tells which write it was, unless it is itself what was damaged.
    valid_ = false;
    damage_ = Status::Corruption(
        "memtable: an entry is not what was added (memtable_protection_bytes_per_key)",
        "sequence " + std::to_string(UnpackSequence(ExtractTrailer(key_))));
  }
  [[nodiscard]] bool IsWhole() const {
    if (value_.size() < bytes_) return false;
    const Slice value(value_.data(), value_.size() - bytes_);
    char expected[sizeof(uint64_t)];
    EncodeFixed64(expected, ChecksumOf(ExtractUserKey(key_), ExtractTrailer(key_), value));
    // A shorter checksum is the low bytes of the full one, which come first.
    return memcmp(expected, value.data() + value.size(), bytes_) == 0;
  }

  const std::unique_ptr<InternalIterator> walk_;
  const size_t bytes_;
  Status damage_;
};

}  // namespace

void AppendProtected(const MemTableEntry& entry, size_t bytes, std::string* value) {
  VARVE_ASSERT(bytes <= sizeof(uint64_t));
  char checksum[sizeof(uint64_t)];
  const uint64_t trailer = PackSequenceAndType(entry.seq, entry.type);
  EncodeFixed64(checksum, ChecksumOf(entry.key, trailer, entry.value));
  value->append(entry.value.data(), entry.value.size());
  value->append(checksum, bytes);
}

std::unique_ptr<InternalIterator> NewProtectedIterator(std::unique_ptr<InternalIterator> walk,
                                                       size_t bytes) {
  return std::make_unique<ProtectedIterator>(std::move(walk), bytes);
}

}  // namespace varve
