// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps one pointer per thread to an object that many threads read: each thread swaps its own cell,
// and the owner can clear all cells.

#include <cstdint>

namespace varve {

// A thread that uses the pointer exchanges its cell for the marker `in_use`, and puts the pointer
// back by CompareExchange. This fails if Scrape has emptied the cell meanwhile: then the pointer
// may be out of date, and the thread releases it itself.
//
// Thread safety: Exchange and CompareExchange touch the calling thread's cell only; Scrape may run
// concurrently.
//
// Lifetime: a thread's cells are released when it exits, an instance's when it is destroyed. The
// destructor waits for exiting threads that are releasing its pointers: no release comes after it.
//
// Limits: of more than 65,536 instances at once the last have no cells. They work, but what is put
// into them is not kept.
class ThreadSlots {
 public:
  // `release` is called with a leftover pointer of an exiting thread or a dying instance; it is not
  // called for null or for `in_use`, the marker that callers put into a cell.
  ThreadSlots(void (*release)(void*), void* in_use);
  ~ThreadSlots();
  ThreadSlots(const ThreadSlots&) = delete;
  ThreadSlots& operator=(const ThreadSlots&) = delete;

  // Exchange the calling thread's cell: acquire on the old value, release on the new.
  // CompareExchange does so only if the cell has `expected`, and returns true then.
  void* Exchange(void* desired);
  bool CompareExchange(void* expected, void* desired);
  // Empties every thread's cell and releases what was there. Pointers that threads store meanwhile
  // may stay.
  void Scrape() noexcept;

 private:
  const uint32_t id_;
};

}  // namespace varve
