// SPDX-License-Identifier: Apache-2.0
#include "util/sync/shared_timer.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace varve {

namespace {

constexpr uint64_t kLongestSleepMicros = uint64_t{3600} * 1000 * 1000;

uint64_t NowMicros() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

}  // namespace

SharedTimer& SharedTimer::Default() {
  static auto* const timer = new SharedTimer();
  return *timer;
}

SharedTimer::SharedTimer() : changed_(std::make_unique<CondVar>(&mu_)) {
  Watch(&mu_);
}

// The thread, all waiters and the clients are the parent's.
void SharedTimer::InChild() {
  (void)thread_.release();
  (void)changed_.release();
  changed_ = std::make_unique<CondVar>(&mu_);
  entries_.clear();
  running_.clear();
  generation_++;
}

SharedTimer::Entry* SharedTimer::Find(const Client* client) {
  const auto found =
      std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.client == client; });
  return found == entries_.end() ? nullptr : &*found;
}

bool SharedTimer::Add(Client* client) {
  MutexLock lock(&mu_);
  try {
    // Run pushes to running_, where an exception would end the process, so room is made here.
    running_.reserve(running_.size() + entries_.size() + 1);
    entries_.push_back(Entry{client, NowMicros()});
    if (thread_ == nullptr) {
      thread_ =
          std::make_unique<std::thread>([this, generation = generation_] { Run(generation); });
    }
  } catch (...) {
    std::erase_if(entries_, [&](const Entry& entry) { return entry.client == client; });
    return false;
  }
  changed_->SignalAll();
  return true;
}

void SharedTimer::Wake(Client* client) {
  MutexLock lock(&mu_);
  Entry* const entry = Find(client);
  if (entry == nullptr) return;
  entry->due_micros = 0;
  changed_->SignalAll();
}

void SharedTimer::WakeAll() {
  MutexLock lock(&mu_);
  for (Entry& entry : entries_) entry.due_micros = 0;
  changed_->SignalAll();
}

void SharedTimer::Remove(Client* client) {
  std::unique_ptr<std::thread> ended;
  {
    MutexLock lock(&mu_);
    if (Find(client) == nullptr) return;
    std::erase_if(entries_, [&](const Entry& entry) { return entry.client == client; });
    while (std::ranges::count(running_, client) != 0) changed_->Wait();
    if (entries_.empty()) {
      ended = std::move(thread_);
      generation_++;
      changed_->SignalAll();
    }
  }
  if (ended != nullptr) ended->join();
}

void SharedTimer::Run(uint64_t generation) {
  MutexLock lock(&mu_);
  while (generation == generation_) {
    const auto next = std::ranges::min_element(entries_, {}, &Entry::due_micros);
    const uint64_t now = NowMicros();
    if (next == entries_.end() || next->due_micros > now) {
      const uint64_t sleep = next == entries_.end() ? kLongestSleepMicros : next->due_micros - now;
      changed_->WaitFor(std::min(sleep, kLongestSleepMicros));
      continue;
    }
    Client* const client = next->client;
    // A mark that Wake replaces: if it is still there after the call, the client was not woken
    // meanwhile, and is due when it has asked to be.
    next->due_micros = UINT64_MAX;
    running_.push_back(client);
    lock.Unlock();
    const uint64_t again = client->OnTime();
    lock.Lock();
    std::erase(running_, client);
    changed_->SignalAll();
    Entry* const entry = Find(client);
    if (entry != nullptr && entry->due_micros == UINT64_MAX) {
      entry->due_micros = NowMicros() + std::min(again, kLongestSleepMicros);
    }
  }
}

}  // namespace varve
