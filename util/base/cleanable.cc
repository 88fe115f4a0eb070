// SPDX-License-Identifier: Apache-2.0

// Implements the list of cleanups behind Cleanable, and the counted Cleanable behind
// SharedCleanablePtr.

#include "varve/cleanable.h"

#include <atomic>
#include <memory>
#include <utility>

#include "util/base/assert.h"

namespace varve {

Cleanable::Cleanable(Cleanable&& other) noexcept : first_(std::exchange(other.first_, Node{})) {}

Cleanable& Cleanable::operator=(Cleanable&& other) noexcept {
  if (this != &other) {
    RunAll();
    first_ = std::exchange(other.first_, Node{});
  }
  return *this;
}

// Inserts the cleanup after the first one.
void Cleanable::Append(CleanupFunction function, void* arg1, void* arg2) {
  VARVE_ASSERT(function != nullptr);
  auto node = std::make_unique<Node>(Node{function, arg1, arg2, first_.next});
  first_.next = node.release();
}

// Takes over a node of another list's heap part. Requires that the inline slot is in use.
void Cleanable::Adopt(Node* node) {
  node->next = first_.next;
  first_.next = node;
}

void Cleanable::DelegateCleanupsTo(Cleanable* other) {
  VARVE_ASSERT(other != nullptr && other != this);
  if (first_.function == nullptr) return;
  // The only step that allocates comes first: if it throws, this object still has all of its
  // cleanups. The nodes of the rest change owners without an allocation.
  other->RegisterCleanup(first_.function, first_.arg1, first_.arg2);
  Node* rest = first_.next;
  first_ = Node{};
  while (rest != nullptr) other->Adopt(std::exchange(rest, rest->next));
}

void Cleanable::RunList() {
  // The list is detached first: a cleanup that looks at this object finds it empty.
  const Node first = std::exchange(first_, Node{});
  first.function(first.arg1, first.arg2);
  for (Node* next = first.next; next != nullptr;) {
    const std::unique_ptr<Node> node(next);
    next = node->next;
    node->function(node->arg1, node->arg2);
  }
}

struct SharedCleanablePtr::Shared : public Cleanable {
  // Number of pointers. The last decrement acquires what the other owners did before theirs.
  std::atomic<unsigned> references{1};

  void Ref() { references.fetch_add(1, std::memory_order_relaxed); }

  void Unref() {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      const std::unique_ptr<Shared> last(this);
    }
  }

  static void UnrefAsCleanup(void* shared, void* /*unused*/) {
    static_cast<Shared*>(shared)->Unref();
  }
};

SharedCleanablePtr::SharedCleanablePtr(const SharedCleanablePtr& from) : shared_(from.shared_) {
  if (shared_ != nullptr) shared_->Ref();
}

SharedCleanablePtr::SharedCleanablePtr(SharedCleanablePtr&& from) noexcept
    : shared_(std::exchange(from.shared_, nullptr)) {}

SharedCleanablePtr& SharedCleanablePtr::operator=(const SharedCleanablePtr& from) {
  SharedCleanablePtr copy(from);
  std::swap(shared_, copy.shared_);
  return *this;
}

SharedCleanablePtr& SharedCleanablePtr::operator=(SharedCleanablePtr&& from) noexcept {
  if (this != &from) {
    Reset();
    shared_ = std::exchange(from.shared_, nullptr);
  }
  return *this;
}

void SharedCleanablePtr::Allocate() {
  Reset();
  shared_ = std::make_unique<Shared>().release();
}

void SharedCleanablePtr::Reset() {
  if (shared_ != nullptr) std::exchange(shared_, nullptr)->Unref();
}

Cleanable* SharedCleanablePtr::get() {
  return shared_;
}

// A registration that finds no memory throws, and leaves the reference with the pointer.
void SharedCleanablePtr::RegisterCopyWith(Cleanable* target) {
  SharedCleanablePtr copy(*this);
  copy.MoveAsCleanupTo(target);
}

void SharedCleanablePtr::MoveAsCleanupTo(Cleanable* target) {
  if (shared_ == nullptr) return;
  target->RegisterCleanup(&Shared::UnrefAsCleanup, shared_, nullptr);
  shared_ = nullptr;
}

}  // namespace varve
