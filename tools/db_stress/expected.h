// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the expected contents of the database, in a file outside its directory that is mapped into
// memory: stores survive a killed process, so that the next one knows which changes were
// acknowledged and which were pending. A floor beside each state is known to survive a kill even
// without a log. The file also counts events, over all processes of a run.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tools/db_stress/key_state.h"

namespace varve::stress {

// Counts over all rounds of a run.
struct Counts {
  std::atomic<uint64_t> operations;  // turns of workers that have ended
  std::atomic<uint64_t> checks;      // comparisons with the expected state
  std::atomic<uint64_t> wrong;       // a read returned what it may not
  std::atomic<uint64_t> lost;        // acknowledged changes that are gone
};

// Thread safety: states are atomic; a key's writer holds the key's lock (locks.h).
class Expected {
 public:
  Expected() = default;
  ~Expected();
  Expected(const Expected&) = delete;
  Expected& operator=(const Expected&) = delete;

  // Maps the file. A missing file is created with every key never written. Returns false, with the
  // reason on stderr, if it cannot be opened or has another shape.
  bool Open(const std::string& path, uint32_t families, uint64_t keys);

  [[nodiscard]] KeyState Get(const KeyId& key) const {
    return KeyState::Unpack(states_[Index(key)].load(std::memory_order_acquire));
  }
  void Set(const KeyId& key, const KeyState& state) {
    states_[Index(key)].store(state.Pack(), std::memory_order_release);
  }
  [[nodiscard]] KeyState Floor(const KeyId& key) const {
    return KeyState::Unpack(floors_[Index(key)].load(std::memory_order_acquire));
  }
  void SetFloor(const KeyId& key, const KeyState& state) {
    floors_[Index(key)].store(state.Pack(), std::memory_order_release);
  }

  Counts& counts() { return header_->counts; }
  // Returns the next user timestamp; the clock never goes back.
  uint64_t NextTimestamp() { return header_->clock.fetch_add(1) + 1; }
  // The number of a family that is being dropped and recreated, or kNoFamily: it may be whole,
  // empty, or missing.
  [[nodiscard]] uint32_t family_in_question() const { return header_->family_in_question.load(); }
  void SetFamilyInQuestion(uint32_t family) { header_->family_in_question.store(family); }
  static constexpr uint32_t kNoFamily = UINT32_MAX;
  // True if a kill may now take acknowledged writes, down to the floors.
  [[nodiscard]] bool lossy() const { return header_->lossy.load() != 0; }
  void SetLossy(bool lossy) { header_->lossy.store(lossy ? 1 : 0); }

  // True if a process has had the database open, with all its families.
  [[nodiscard]] bool created() const { return header_->created.load() != 0; }
  void SetCreated() { header_->created.store(1); }

  [[nodiscard]] uint32_t families() const { return header_->families; }
  [[nodiscard]] uint64_t keys() const { return header_->keys; }

 private:
  struct Header {
    uint64_t magic;
    uint32_t families;
    std::atomic<uint32_t> family_in_question;
    uint64_t keys;
    std::atomic<uint64_t> lossy;
    std::atomic<uint64_t> created;
    std::atomic<uint64_t> clock;
    Counts counts;
  };

  [[nodiscard]] size_t Index(const KeyId& key) const {
    return static_cast<size_t>(key.family * header_->keys + key.number);
  }

  Header* header_ = nullptr;
  std::atomic<uint64_t>* states_ = nullptr;
  std::atomic<uint64_t>* floors_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace varve::stress
