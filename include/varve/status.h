// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Status is the result of an operation: a code, a subcode that narrows it, a severity that tells
// how far the database is affected, and an optional message.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "varve/export.h"
#include "varve/slice.h"

namespace varve {

/// Has 16 bytes. Success and a failure without message never allocate, so both are cheap on hot
/// paths. The message is omitted if its allocation fails. Const methods may be called by many
/// threads at once.
class [[nodiscard]] VARVE_EXPORT Status {
 public:
  // Values cross the C API and are stored in traces: append only.
  enum Code : unsigned char {
    kOk = 0,
    kNotFound = 1,
    kCorruption = 2,
    kNotSupported = 3,
    kInvalidArgument = 4,
    kIOError = 5,
    kMergeInProgress = 6,
    kIncomplete = 7,
    kShutdownInProgress = 8,
    kTimedOut = 9,
    kAborted = 10,
    kBusy = 11,
    kExpired = 12,
    kTryAgain = 13,
    kCompactionTooLarge = 14,
    kColumnFamilyDropped = 15,
    kMaxCode
  };

  enum SubCode : unsigned char {
    kNone = 0,
    kMutexTimeout = 1,
    kLockTimeout = 2,
    kLockLimit = 3,
    kNoSpace = 4,
    kDeadlock = 5,
    kStaleFile = 6,
    kMemoryLimit = 7,
    kSpaceLimit = 8,
    kPathNotFound = 9,
    KMergeOperandsInsufficientCapacity = 10,
    kManualCompactionPaused = 11,
    kOverwritten = 12,
    kTxnNotPrepared = 13,
    kIOFenced = 14,
    kMergeOperatorFailed = 15,
    kMergeOperandThresholdExceeded = 16,
    kPrefetchLimitReached = 17,
    kNotExpectedCodePath = 18,
    kCompactionAborted = 19,
    kMaxSubCode
  };

  enum Severity : unsigned char {
    kNoError = 0,
    kSoftError = 1,
    kHardError = 2,
    kFatalError = 3,
    kUnrecoverableError = 4,
    kMaxSeverity
  };

  Status() = default;
  ~Status() = default;
  Status(const Status& other);
  Status& operator=(const Status& other);
  /// Makes the source OK.
  Status(Status&& other) noexcept;
  Status& operator=(Status&& other) noexcept;

  /// Copies `other` with another severity.
  Status(const Status& other, Severity severity);
  Status(Code code, SubCode subcode, Severity severity, const Slice& msg);

  /// Compares codes only.
  bool operator==(const Status& rhs) const { return cause_.code == rhs.cause_.code; }
  bool operator!=(const Status& rhs) const { return cause_.code != rhs.cause_.code; }

  /// Both do nothing, as [[nodiscard]] does the check. They exist for programs that call them.
  void PermitUncheckedError() const {}
  void MustCheck() const {}

  Code code() const { return cause_.code; }
  SubCode subcode() const { return cause_.subcode; }
  Severity severity() const { return cause_.severity; }
  /// Returns the zero-terminated message, or null, valid until this status is changed.
  const char* getState() const { return state_.get(); }

  /// Assigns `s` unless this is already an error, so the first error is kept.
  Status& UpdateIfOk(Status&& s);
  Status& UpdateIfOk(const Status& s);

  /// Returns `s` with `delim` and `msg` appended to its message.
  static Status CopyAppendMessage(const Status& s, const Slice& delim, const Slice& msg);

  /// Returns "OK", or the code's and the subcode's text and the message.
  std::string ToString() const;

  // Factories with two texts make the message "msg: msg2".

  static Status OK() { return Status(); }
  /// Success that overwrote an existing value.
  static Status OkOverwritten() { return Status(kOk, kOverwritten); }
  /// Success with more merge operands than ReadOptions::merge_operand_count_threshold.
  static Status OkMergeOperandThresholdExceeded() {
    return Status(kOk, kMergeOperandThresholdExceeded);
  }

  static Status NotFound(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kNotFound, kNone, msg, msg2);
  }
  static Status NotFound(SubCode sub = kNone) { return Status(kNotFound, sub); }
  static Status NotFound(SubCode sub, const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kNotFound, sub, msg, msg2);
  }

  static Status Corruption(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kCorruption, kNone, msg, msg2);
  }
  static Status Corruption(SubCode sub = kNone) { return Status(kCorruption, sub); }
  static Status Corruption(SubCode sub, const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kCorruption, sub, msg, msg2);
  }

  static Status NotSupported(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kNotSupported, kNone, msg, msg2);
  }
  static Status NotSupported(SubCode sub = kNone) { return Status(kNotSupported, sub); }

  static Status InvalidArgument(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kInvalidArgument, kNone, msg, msg2);
  }
  static Status InvalidArgument(SubCode sub = kNone) { return Status(kInvalidArgument, sub); }

  static Status IOError(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, kNone, msg, msg2);
  }
  static Status IOError(SubCode sub = kNone) { return Status(kIOError, sub); }

  static Status MergeInProgress(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kMergeInProgress, kNone, msg, msg2);
  }
  static Status MergeInProgress(SubCode sub = kNone) { return Status(kMergeInProgress, sub); }

  static Status Incomplete(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIncomplete, kNone, msg, msg2);
  }
  static Status Incomplete(SubCode sub = kNone) { return Status(kIncomplete, sub); }

  static Status ShutdownInProgress(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kShutdownInProgress, kNone, msg, msg2);
  }
  static Status ShutdownInProgress(SubCode sub = kNone) { return Status(kShutdownInProgress, sub); }

  static Status Aborted(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kAborted, kNone, msg, msg2);
  }
  static Status Aborted(SubCode sub = kNone) { return Status(kAborted, sub); }

  static Status Busy(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kBusy, kNone, msg, msg2);
  }
  static Status Busy(SubCode sub = kNone) { return Status(kBusy, sub); }

  static Status TimedOut(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kTimedOut, kNone, msg, msg2);
  }
  static Status TimedOut(SubCode sub = kNone) { return Status(kTimedOut, sub); }

  static Status Expired(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kExpired, kNone, msg, msg2);
  }
  static Status Expired(SubCode sub = kNone) { return Status(kExpired, sub); }

  static Status TryAgain(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kTryAgain, kNone, msg, msg2);
  }
  static Status TryAgain(SubCode sub = kNone) { return Status(kTryAgain, sub); }

  static Status CompactionTooLarge(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kCompactionTooLarge, kNone, msg, msg2);
  }
  static Status CompactionTooLarge(SubCode sub = kNone) { return Status(kCompactionTooLarge, sub); }

  static Status ColumnFamilyDropped(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kColumnFamilyDropped, kNone, msg, msg2);
  }
  static Status ColumnFamilyDropped(SubCode sub = kNone) {
    return Status(kColumnFamilyDropped, sub);
  }

  // Factories named after a subcode.

  static Status NoSpace() { return Status(kIOError, kNoSpace); }
  static Status NoSpace(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, kNoSpace, msg, msg2);
  }
  static Status SpaceLimit() { return Status(kIOError, kSpaceLimit); }
  static Status SpaceLimit(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, kSpaceLimit, msg, msg2);
  }
  static Status PathNotFound() { return Status(kIOError, kPathNotFound); }
  static Status PathNotFound(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, kPathNotFound, msg, msg2);
  }
  static Status MemoryLimit() { return Status(kAborted, kMemoryLimit); }
  static Status MemoryLimit(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kAborted, kMemoryLimit, msg, msg2);
  }
  static Status LockLimit() { return Status(kAborted, kLockLimit); }
  static Status LockLimit(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kAborted, kLockLimit, msg, msg2);
  }
  static Status TxnNotPrepared() { return Status(kInvalidArgument, kTxnNotPrepared); }
  static Status TxnNotPrepared(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kInvalidArgument, kTxnNotPrepared, msg, msg2);
  }

  bool ok() const { return cause_.code == kOk; }
  bool IsOkOverwritten() const { return Is(kOk, kOverwritten); }
  bool IsOkMergeOperandThresholdExceeded() const { return Is(kOk, kMergeOperandThresholdExceeded); }
  bool IsNotFound() const { return cause_.code == kNotFound; }
  bool IsCorruption() const { return cause_.code == kCorruption; }
  bool IsNotSupported() const { return cause_.code == kNotSupported; }
  bool IsInvalidArgument() const { return cause_.code == kInvalidArgument; }
  bool IsIOError() const { return cause_.code == kIOError; }
  bool IsMergeInProgress() const { return cause_.code == kMergeInProgress; }
  bool IsIncomplete() const { return cause_.code == kIncomplete; }
  bool IsShutdownInProgress() const { return cause_.code == kShutdownInProgress; }
  bool IsTimedOut() const { return cause_.code == kTimedOut; }
  bool IsAborted() const { return cause_.code == kAborted; }
  bool IsBusy() const { return cause_.code == kBusy; }
  bool IsExpired() const { return cause_.code == kExpired; }
  bool IsTryAgain() const { return cause_.code == kTryAgain; }
  bool IsCompactionTooLarge() const { return cause_.code == kCompactionTooLarge; }
  bool IsColumnFamilyDropped() const { return cause_.code == kColumnFamilyDropped; }

  bool IsLockLimit() const { return Is(kAborted, kLockLimit); }
  bool IsMemoryLimit() const { return Is(kAborted, kMemoryLimit); }
  bool IsSpaceLimit() const { return Is(kIOError, kSpaceLimit); }
  bool IsDeadlock() const { return Is(kBusy, kDeadlock); }
  bool IsNoSpace() const { return Is(kIOError, kNoSpace); }
  bool IsIOFenced() const { return Is(kIOError, kIOFenced); }
  /// True for IOError and NotFound with this subcode.
  bool IsPathNotFound() const {
    return Is(kIOError, kPathNotFound) || Is(kNotFound, kPathNotFound);
  }
  bool IsManualCompactionPaused() const { return Is(kIncomplete, kManualCompactionPaused); }
  bool IsCompactionAborted() const { return Is(kIncomplete, kCompactionAborted); }
  bool IsTxnNotPrepared() const { return Is(kInvalidArgument, kTxnNotPrepared); }

 protected:
  explicit Status(Code code, SubCode subcode = kNone) : cause_{code, subcode} {}
  Status(Code code, SubCode subcode, const Slice& msg, const Slice& msg2);

  // All parts but the message, aligned so that copies take one word, as every call returns a
  // Status.
  struct alignas(8) Cause {
    Code code = kOk;
    SubCode subcode = kNone;
    Severity severity = kNoError;
    // A file system (IOStatus) sets the next three, and error handling reads them.
    bool retryable = false;
    bool data_loss = false;
    unsigned char scope = 0;
  };
  Cause cause_;
  std::unique_ptr<const char[]> state_;

 private:
  bool Is(Code code, SubCode subcode) const {
    return cause_.code == code && cause_.subcode == subcode;
  }
  static std::unique_ptr<const char[]> CopyMessage(const char* message);
};

inline Status::Status(const Status& other) : cause_(other.cause_) {
  if (other.state_ != nullptr) state_ = CopyMessage(other.state_.get());
}

inline Status::Status(const Status& other, Severity severity) : Status(other) {
  cause_.severity = severity;
}

inline Status& Status::operator=(const Status& other) {
  if (this == &other) return *this;
  cause_ = other.cause_;
  state_ = other.state_ == nullptr ? nullptr : CopyMessage(other.state_.get());
  return *this;
}

// Moves the message and resets the source's cause with it.
inline Status::Status(Status&& other) noexcept
    : cause_(std::exchange(other.cause_, Cause())), state_(std::move(other.state_)) {}

inline Status& Status::operator=(Status&& other) noexcept {
  if (this == &other) return *this;
  cause_ = std::exchange(other.cause_, Cause());
  state_ = std::move(other.state_);
  return *this;
}

inline Status& Status::UpdateIfOk(Status&& s) {
  if (ok()) *this = std::move(s);
  return *this;
}

inline Status& Status::UpdateIfOk(const Status& s) {
  if (ok()) *this = s;
  return *this;
}

}  // namespace varve
