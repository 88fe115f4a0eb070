// SPDX-License-Identifier: Apache-2.0
#include "db/read/get_merge_operands.h"

#include <atomic>
#include <memory>

#include "db/read/blob_read.h"
#include "db/read/get.h"
#include "db/read/read_timestamp.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/key/point_lookup.h"

namespace varve {

namespace {

// Up to this size a slice's own buffer takes a copy without an allocation.
constexpr size_t kOwnCopyBytesMax = 15;

// A super-version is kept alive, and with it whole memtables, only for at least this many bytes, in
// operands of at least this average size. Otherwise operands in memtables are copied.
constexpr size_t kPinnedBytesMin = 32 << 10;
constexpr size_t kPinnedAverageMin = 256;

// Owns the memory that the slices of one call point to. Each slice that is not a copy has a share
// of it, and the last one that is released deletes it, in any thread.
class OperandBundle {
 public:
  // Takes over the operands. Takes a reference of the super-version unless that is null.
  OperandBundle(MergeOperands* operands, SuperVersion* super_version, size_t shares)
      : shares_(shares), operands_(operands), super_version_(super_version) {
    if (super_version != nullptr) super_version->Ref();
  }
  OperandBundle(const OperandBundle&) = delete;
  OperandBundle& operator=(const OperandBundle&) = delete;

  static void Release(void* bundle, void* /*unused*/) {
    auto* const self = static_cast<OperandBundle*>(bundle);
    VARVE_ASSERT(self->shares_.load(std::memory_order_relaxed) > 0);
    // Release: this holder's reads are done before the deletion; acquire: so are those of others.
    // The last holder needs no decrement.
    if (self->shares_.load(std::memory_order_acquire) == 1 ||
        self->shares_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete self;
    }
  }

 private:
  ~OperandBundle() {
    MergeOperands::Release(operands_);
    if (super_version_ != nullptr) super_version_->Unref();
  }

  std::atomic<size_t> shares_;
  MergeOperands* const operands_;
  SuperVersion* const super_version_;
};

bool IsCopiedAlone(const Slice& value) {
  return kCopyMergeOperands || value.size() <= kOwnCopyBytesMax;
}

// Gives the base and the operands out in three ways. Small ones are copied into their slices. Large
// ones in tables stay there, pinned by the shares that the operands have of their blocks. Large
// ones in memtables are copied once into memory of the operands or, if that saves a lot of copying,
// stay where they are, with a reference of the super-version. If any slice is not a copy, a bundle
// takes the operands over from the lookup; if none is, the lookup keeps and releases them.
void HandOut(PointLookup* lookup, const SuperVersion& super_version,
             std::span<PinnableSlice> slices) {
  MergeOperands* const operands = lookup->operands();
  size_t bytes = 0;
  size_t shares = 0;
  operands->ForEachFromOldest([&](const Slice& value) {
    bytes += value.size();
    shares += IsCopiedAlone(value) ? 0 : 1;
  });
  // True if operands in memtables stay there.
  const bool holds = operands->in_memtables() != 0 && bytes >= kPinnedBytesMin &&
                     bytes / slices.size() >= kPinnedAverageMin;
  if (!holds && shares != 0) operands->CopyFromMemTables(kOwnCopyBytesMax);
  // Only its reference count changes.
  auto* const held = holds ? const_cast<SuperVersion*>(&super_version) : nullptr;
  OperandBundle* const bundle = shares == 0 ? nullptr : new OperandBundle(operands, held, shares);
  if (bundle != nullptr) (void)lookup->TakeOperands();  // only now, as nothing throws any more
  VARVE_ASSERT(shares <= slices.size());
  PinnableSlice* out = slices.data();
  operands->ForEachFromOldest([&out, bundle](const Slice& value) {
    if (IsCopiedAlone(value)) {
      out->PinSelf(value);
    } else {
      out->PinSlice(value, &OperandBundle::Release, bundle, nullptr);
    }
    out++;
  });
  VARVE_ASSERT(out == slices.data() + slices.size());
}

}  // namespace

Status GetOperandsFromSuperVersion(const ReadOptions& options, const SuperVersion& super_version,
                                   const OperandRequest& request, std::span<PinnableSlice> slices,
                                   int* count) {
  PointLookup lookup(request.key, request.sequence, nullptr, &super_version.merger(),
                     AsOf(options, super_version));
  MergeOperands* const operands = MergeOperands::Acquire();
  lookup.CollectInto(operands, request.whole_through);
  operands->wants_value = false;
  operands->continue_callback = request.continue_callback;
  VARVE_RETURN_IF_ERROR(
      GetFromSuperVersion(options, super_version, &lookup, nullptr, request.skip_memtables));
  const size_t n = operands->size() + (operands->base() != nullptr ? 1 : 0);
  if (n == 0) return Status::NotFound();
  *count = static_cast<int>(n);
  if (n > slices.size()) {
    return Status::Incomplete(Status::KMergeOperandsInsufficientCapacity);
  }
  PinnableSlice base_of_blob;
  if (lookup.base_is_reference()) {
    VARVE_RETURN_IF_ERROR(ReadReferenceOfBase(options, super_version, &lookup, &base_of_blob));
    // The operands own their bytes from here on, as base_of_blob ends with this call.
    operands->CopyFrom(0);
  }
  HandOut(&lookup, super_version, slices.first(n));
  return Status::OK();
}

}  // namespace varve
