// SPDX-License-Identifier: Apache-2.0

// Implements the messages of Status and their printed form. The texts are part of the interface:
// language bindings and scripts look for them.

#include "varve/status.h"

#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "varve/slice.h"

namespace varve {

namespace {

constexpr std::string_view kCodeText[] = {
    "OK",
    "NotFound: ",
    "Corruption: ",
    "Not implemented: ",
    "Invalid argument: ",
    "IO error: ",
    "Merge in progress: ",
    "Result incomplete: ",
    "Shutdown in progress: ",
    "Operation timed out: ",
    "Operation aborted: ",
    "Resource busy: ",
    "Operation expired: ",
    "Operation failed. Try again.: ",
    "Compaction too large: ",
    "Column family dropped: ",
};
static_assert(std::size(kCodeText) == Status::kMaxCode);

constexpr std::string_view kSubCodeText[] = {
    "",
    "Timeout Acquiring Mutex",
    "Timeout waiting to lock key",
    "Failed to acquire lock due to max_num_locks limit",
    "No space left on device",
    "Deadlock",
    "Stale file handle",
    "Memory limit reached",
    "Space limit reached",
    "No such file or directory",
    "Insufficient capacity for merge operands",
    "Manual compaction paused",
    " (overwritten)",
    "Txn not prepared",
    "IO fenced off",
    "Merge operator failed",
    "Number of operands merged exceeded threshold",
    "MultiScan reached file prefetch limit",
    "Not expected code path",
    "Compaction aborted",
};
static_assert(std::size(kSubCodeText) == Status::kMaxSubCode);

constexpr std::string_view kJoint = ": ";

// Returns the concatenated parts with a terminating zero, or null if there is no memory: an error
// without its text is still that error, so a status can be made and copied where nothing may throw.
std::unique_ptr<const char[]> Concatenate(const Slice& a, const Slice& b, const Slice& c) {
  const size_t size = a.size() + b.size() + c.size() + 1;
  std::unique_ptr<char[]> text(new (std::nothrow) char[size]());
  if (text == nullptr) return nullptr;
  char* end = text.get();
  for (const Slice* part : {&a, &b, &c}) {
    if (part->empty()) continue;
    std::memcpy(end, part->data(), part->size());
    end += part->size();
  }
  return text;
}

}  // namespace

Status::Status(Code code, SubCode subcode, const Slice& msg, const Slice& msg2)
    : cause_{code, subcode},
      state_(Concatenate(msg, msg2.empty() ? Slice() : Slice(kJoint), msg2)) {}

Status::Status(Code code, SubCode subcode, Severity severity, const Slice& msg)
    : Status(code, subcode, msg, Slice()) {
  cause_.severity = severity;
}

std::unique_ptr<const char[]> Status::CopyMessage(const char* message) {
  return Concatenate(Slice(message), Slice(), Slice());
}

Status Status::CopyAppendMessage(const Status& s, const Slice& delim, const Slice& msg) {
  Status result;
  result.cause_ = s.cause_;
  result.state_ = Concatenate(Slice(s.getState()), delim, msg);
  return result;
}

std::string Status::ToString() const {
  if (cause_.code == kOk) return std::string(kCodeText[kOk]);
  // The C API or a cast may have made the fields from a number.
  std::string text = cause_.code < kMaxCode ? std::string(kCodeText[cause_.code])
                                            : "Unknown code(" + std::to_string(cause_.code) + "): ";
  const bool has_subcode = cause_.subcode != kNone && cause_.subcode < kMaxSubCode;
  if (has_subcode) text += kSubCodeText[cause_.subcode];
  if (state_ != nullptr) {
    if (has_subcode) text += kJoint;
    text += state_.get();
  }
  return text;
}

}  // namespace varve
