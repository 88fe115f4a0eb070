// SPDX-License-Identifier: Apache-2.0

// The contents are one string, as programs see them. What a crash would leave is derived from it: a
// page that is durable is copied to saved_pages_ before it is first changed after a sync, so the
// durable contents are the string up to durable_size_, with the saved pages put back.
//
// Bytes stored into mapped pieces are not noticed when they are stored. They count as written:
// every call that reads, cuts or syncs the file, or computes its state after a crash, first copies
// them in (TakeStored).
//
// AfterCrash composes a result from durable and present contents. In chaos each page that differs
// is new, old, zero or mixed by sectors, and the length lies anywhere between both; only a durable
// byte that was never changed is certain. The same seed gives the same result, so a failing test
// can be repeated.

#include "util/env/mem_file.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <utility>

#include "util/sync/lock_ranks.h"

namespace varve {

namespace {

using Random = std::mt19937_64;

uint64_t UpTo(Random& random, uint64_t largest) {
  return random() % (largest + 1);
}

// Appends one page after a crash in the middle of write-back. `older` and `newer` have the same
// length; zeros replace what a state did not have.
void AppendChaoticPage(std::string* out, const std::string& older, const std::string& newer,
                       Random& random) {
  switch (random() % 4) {
    case 0:
      *out += newer;
      return;
    case 1:
      *out += older;
      return;
    case 2:
      out->append(newer.size(), '\0');
      return;
    default:
      break;
  }
  for (size_t at = 0; at < newer.size(); at += MemFile::kSector) {
    const std::string& source = random() % 2 == 0 ? newer : older;
    out->append(source, at, MemFile::kSector);
  }
}

std::string PageOf(const std::string& contents, size_t offset, size_t length) {
  std::string page = offset < contents.size() ? contents.substr(offset, length) : std::string();
  page.resize(length, '\0');
  return page;
}

// Models a power loss while the kernel was writing back, in any order and at sector granularity.
// The result is bounded by what a disk may do, not worse: bytes that were durable and have not been
// changed since are never damaged.
std::string Chaos(const std::string& durable, const std::string& data, Random& random) {
  const size_t smaller = std::min(durable.size(), data.size());
  const size_t larger = std::max(durable.size(), data.size());
  // The size is metadata, which reaches the disk independently.
  const size_t size = smaller + static_cast<size_t>(UpTo(random, larger - smaller));
  std::string out;
  out.reserve(size);
  for (size_t at = 0; at < size; at += MemFile::kPage) {
    const size_t length = std::min(MemFile::kPage, size - at);
    const std::string older = PageOf(durable, at, length);
    const std::string newer = PageOf(data, at, length);
    if (older == newer) {
      out += newer;
      continue;
    }
    AppendChaoticPage(&out, older, newer, random);
    // A durable byte that was not changed is on the disk whatever happened to its neighbours.
    for (size_t i = 0; i < length && at + i < smaller; ++i) {
      if (older[i] == newer[i]) out[at + i] = older[i];
    }
  }
  return out;
}

}  // namespace

MemFile::MemFile(std::string contents, uint64_t mtime)
    : data_(std::move(contents)), durable_size_(data_.size()), mtime_(mtime) {}

size_t MemFile::Read(uint64_t offset, size_t n, char* scratch) const {
  MutexLock lock(&mutex_);
  TakeStored();
  if (offset >= data_.size()) return 0;
  const size_t got = std::min(n, data_.size() - static_cast<size_t>(offset));
  if (got > 0) std::memcpy(scratch, data_.data() + offset, got);
  return got;
}

// Must be called before data_ changes in [begin, end). Only the first change of a page since the
// sync saves it, because later ones would save bytes that no sync has covered. Bytes beyond
// durable_size_ have no older state.
void MemFile::SaveDurable(uint64_t begin, uint64_t end) const {
  end = std::min(end, durable_size_);
  if (begin >= end) return;
  for (uint64_t page = begin / kPage; page * kPage < end; ++page) {
    const auto at = static_cast<size_t>(page * kPage);
    const size_t length = std::min<size_t>(kPage, static_cast<size_t>(durable_size_) - at);
    if (saved_pages_.count(page) == 0) saved_pages_.emplace(page, PageOf(data_, at, length));
  }
}

void MemFile::Write(uint64_t offset, const Slice& data, uint64_t mtime) {
  if (data.empty()) return;
  MutexLock lock(&mutex_);
  // The caller writes where no piece is mapped, so nothing that was stored is overlooked here.
  SaveDurable(offset, offset + data.size());
  const auto end = static_cast<size_t>(offset + data.size());
  if (data_.size() < end) {
    // Capacity doubles, so that appending takes linear time.
    if (data_.capacity() < end) data_.reserve(std::max(end, data_.capacity() * 2));
    data_.resize(end);
  }
  std::memcpy(data_.data() + offset, data.data(), data.size());
  mtime_ = mtime;
}

void MemFile::Truncate(uint64_t size, uint64_t mtime) {
  MutexLock lock(&mutex_);
  TakeStored();
  if (size < data_.size()) SaveDurable(size, data_.size());
  data_.resize(static_cast<size_t>(size));
  mtime_ = mtime;
}

void MemFile::Sync() {
  MutexLock lock(&mutex_);
  TakeStored();
  durable_size_ = data_.size();
  saved_pages_.clear();
}

// A mutex that cannot be taken was held by a thread that the child does not have, in the middle of
// a change: the contents may be inconsistent and are given up rather than read, or destroyed.
void MemFile::MendInChild() {
  if (mutex_.TryLock()) {
    mutex_.Unlock();
    return;
  }
  std::construct_at(&mutex_, lock_ranks::kMemFile);
  std::construct_at(&data_);
  std::construct_at(&pieces_);
  std::construct_at(&saved_pages_);
  durable_size_ = 0;
}

uint64_t MemFile::size() const {
  MutexLock lock(&mutex_);
  return data_.size();
}

uint64_t MemFile::mtime() const {
  MutexLock lock(&mutex_);
  return mtime_;
}

std::string MemFile::DurableContents() const {
  std::string out = data_.substr(0, static_cast<size_t>(durable_size_));
  // Longer than data_ after a truncation, which has saved the pages that it took away.
  out.resize(static_cast<size_t>(durable_size_), '\0');
  for (const auto& [page, bytes] : saved_pages_) {
    out.replace(static_cast<size_t>(page * kPage), bytes.size(), bytes);
  }
  return out;
}

std::string MemFile::AfterCrash(UnsyncedBytes unsynced, uint64_t seed) const {
  Random random(seed);
  MutexLock lock(&mutex_);
  TakeStored();
  if (unsynced == UnsyncedBytes::kKept) return data_;
  std::string durable = DurableContents();
  switch (unsynced) {
    case UnsyncedBytes::kLost:
    case UnsyncedBytes::kKept:
      return durable;
    case UnsyncedBytes::kPrefix:
      // The file was overwritten and not only appended to. Overwritten bytes have no order in which
      // they could survive up to some length, so all of them do, or none.
      if (!saved_pages_.empty()) return random() % 2 == 0 ? data_ : durable;
      if (data_.size() > durable.size()) {
        const size_t more = static_cast<size_t>(UpTo(random, data_.size() - durable.size()));
        durable.append(data_, durable.size(), more);
      }
      return durable;
    case UnsyncedBytes::kChaotic:
      return Chaos(durable, data_, random);
  }
  return durable;
}

}  // namespace varve
