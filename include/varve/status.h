// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Status is the result of an operation: a code, a subcode that narrows it, a severity that tells
// how far the database is affected, and an optional message.
//
// A program decides by the code, and by the subcode where one is named. Messages are for people and
// for logs: they name the file and the offset, or the option, and may change between versions.
//
//   varve::Status s = db->Get(varve::ReadOptions(), "key", &value);
//   if (s.IsNotFound()) {
//     value = "none";
//   } else if (!s.ok()) {
//     fprintf(stderr, "%s\n", s.ToString().c_str());  // such as "Corruption: ... at offset 4096"
//   }
//
// Every status that a call returns must be looked at: the class is [[nodiscard]].

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "varve/export.h"
#include "varve/slice.h"

namespace varve {

/// The result of an operation, in 16 bytes. Success and a failure without message never allocate,
/// so both are cheap on hot paths. The message is omitted if its allocation fails. Const methods
/// may be called by many threads at once.
class [[nodiscard]] VARVE_EXPORT Status {
 public:
  /// The kind of result, which tells a caller what to do. Values cross the C API and are stored in
  /// traces: append only.
  enum Code : unsigned char {
    /// The call did what it says.
    kOk = 0,
    /// There is no such key, file or other object.
    kNotFound = 1,
    /// Stored bytes are damaged. A repetition gives the same error.
    kCorruption = 2,
    /// Varve, this build of it, or the object that was given lacks the feature that is named.
    kNotSupported = 3,
    /// An argument or an option is wrong. Nothing was changed.
    kInvalidArgument = 4,
    /// A call of the file system failed.
    kIOError = 5,
    /// A batch alone does not tell the value of a key that it merges into.
    kMergeInProgress = 6,
    /// The call was stopped, or gave up at a limit that it was given: a write would have waited
    /// (no_slowdown), a read would have read a file (read_tier), a compaction was cancelled.
    kIncomplete = 7,
    /// The database is being closed, or is closed.
    kShutdownInProgress = 8,
    /// The deadline or the timeout of the call has passed.
    kTimedOut = 9,
    /// The call was ended: for lack of memory (kMemoryLimit), at a limit of locks (kLockLimit), or
    /// by an exception of a callback.
    kAborted = 10,
    /// Another transaction or call is in the way. A repetition of the transaction or call may
    /// succeed.
    kBusy = 11,
    /// The transaction, or the position of a change stream, has exceeded its time or its bounds.
    kExpired = 12,
    /// Something that the call relied on has changed meanwhile. A repetition may succeed.
    kTryAgain = 13,
    /// CompactRange or CompactFiles may write more than the limit of an SstFileManager leaves. A
    /// smaller range, or a higher limit, may help.
    kCompactionTooLarge = 14,
    /// The column family has been dropped.
    kColumnFamilyDropped = 15,
    kMaxCode
  };

  /// Narrows a code. Subcodes without a comment are returned by no call of this library; they exist
  /// for programs and file systems that use them.
  enum SubCode : unsigned char {
    /// Nothing narrows the code.
    kNone = 0,
    /// TimedOut: a wait on a TransactionDBMutex or TransactionDBCondVar has timed out.
    kMutexTimeout = 1,
    /// TimedOut: a transaction did not get a lock within its timeout.
    kLockTimeout = 2,
    /// Aborted: TransactionDBOptions::max_num_locks is reached.
    kLockLimit = 3,
    /// IOError: the disk or the user's quota is full.
    kNoSpace = 4,
    /// Busy: transactions wait for each other in a circle.
    kDeadlock = 5,
    /// IOError: a network file system no longer knows the open file.
    kStaleFile = 6,
    /// Aborted: there was no memory, or a limit of memory is reached.
    kMemoryLimit = 7,
    /// IOError: the limit of an SstFileManager is reached.
    kSpaceLimit = 8,
    /// IOError or NotFound: the path does not exist.
    kPathNotFound = 9,
    /// Incomplete: there are more operands than the caller has room for (GetMergeOperands).
    KMergeOperandsInsufficientCapacity = 10,
    /// Incomplete: a compaction was cancelled, or manual compactions are disabled.
    kManualCompactionPaused = 11,
    /// Never returned: writes do not look at what they replace.
    kOverwritten = 12,
    /// InvalidArgument: the transaction must be prepared before it is committed.
    kTxnNotPrepared = 13,
    /// Never returned by the built-in file systems: another process has taken over the storage.
    kIOFenced = 14,
    /// Corruption: a merge operator returned false.
    kMergeOperatorFailed = 15,
    /// OK: see OkMergeOperandThresholdExceeded.
    kMergeOperandThresholdExceeded = 16,
    /// Never returned: scans have no limit of read-ahead over files.
    kPrefetchLimitReached = 17,
    /// Never returned.
    kNotExpectedCodePath = 18,
    /// Never returned: a compaction that is cancelled has kManualCompactionPaused.
    kCompactionAborted = 19,
    kMaxSubCode
  };

  /// Says how far an error of background work, or of a log, affects the whole database.
  enum Severity : unsigned char {
    /// The error concerns the call alone.
    kNoError = 0,
    /// A compaction failed. Reads and writes go on, and it is tried again.
    kSoftError = 1,
    /// A flush, a log or the MANIFEST failed. Writes are refused, and reads go on, until recovery
    /// succeeds, by itself or by DB::Resume.
    kHardError = 2,
    /// Not used by this library.
    kFatalError = 3,
    /// Data is damaged. Reads go on; writes are refused until the database is opened again.
    kUnrecoverableError = 4,
    kMaxSeverity
  };

  /// Makes a success.
  Status() = default;
  ~Status() = default;
  /// Copies all parts, with the message.
  Status(const Status& other);
  Status& operator=(const Status& other);
  /// Makes the source OK.
  Status(Status&& other) noexcept;
  Status& operator=(Status&& other) noexcept;

  /// Copies `other` with another severity.
  Status(const Status& other, Severity severity);
  /// Makes a status of these parts. The message is kept even if it is empty.
  Status(Code code, SubCode subcode, Severity severity, const Slice& msg);

  /// Compares codes only.
  bool operator==(const Status& rhs) const { return cause_.code == rhs.cause_.code; }
  bool operator!=(const Status& rhs) const { return cause_.code != rhs.cause_.code; }

  /// Both do nothing, as [[nodiscard]] does the check. They exist for programs that call them.
  void PermitUncheckedError() const {}
  void MustCheck() const {}

  /// Returns the kind of result.
  Code code() const { return cause_.code; }
  /// Returns what narrows the code; kNone if nothing does.
  SubCode subcode() const { return cause_.subcode; }
  /// Returns how far the whole database is affected; kNoError if the error concerns the call alone.
  Severity severity() const { return cause_.severity; }
  /// Returns the zero-terminated message, or null, valid until this status is changed.
  const char* getState() const { return state_.get(); }

  /// Assigns `s` unless this is already an error, so the first error is kept.
  Status& UpdateIfOk(Status&& s);
  Status& UpdateIfOk(const Status& s);

  /// Returns `s` with `delim` and `msg` appended to its message.
  static Status CopyAppendMessage(const Status& s, const Slice& delim, const Slice& msg);

  /// Returns "OK", or the texts of the code and the subcode and the message, such as "IO error: No
  /// space left on device: 000123.sst". The texts are those of RocksDB.
  std::string ToString() const;

  // ---- Factories ----
  // Each copies its texts; two of them make the message "msg: msg2". A form without a text
  // allocates nothing.

  /// Makes a success, as the default constructor does.
  static Status OK() { return Status(); }
  /// Makes a success of a write that overwrote an existing value. No call of this library returns
  /// it.
  static Status OkOverwritten() { return Status(kOk, kOverwritten); }
  /// Makes a success of a read that applied more merge operands than
  /// ReadOptions::merge_operand_count_threshold.
  static Status OkMergeOperandThresholdExceeded() {
    return Status(kOk, kMergeOperandThresholdExceeded);
  }

  /// There is no such object.
  static Status NotFound(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kNotFound, kNone, msg, msg2);
  }
  static Status NotFound(SubCode sub = kNone) { return Status(kNotFound, sub); }
  static Status NotFound(SubCode sub, const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kNotFound, sub, msg, msg2);
  }

  /// Stored bytes are damaged; the message should name the file and the offset.
  static Status Corruption(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kCorruption, kNone, msg, msg2);
  }
  static Status Corruption(SubCode sub = kNone) { return Status(kCorruption, sub); }
  static Status Corruption(SubCode sub, const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kCorruption, sub, msg, msg2);
  }

  /// A feature is missing; the message should name it.
  static Status NotSupported(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kNotSupported, kNone, msg, msg2);
  }
  static Status NotSupported(SubCode sub = kNone) { return Status(kNotSupported, sub); }

  /// An argument is wrong, and nothing was changed.
  static Status InvalidArgument(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kInvalidArgument, kNone, msg, msg2);
  }
  static Status InvalidArgument(SubCode sub = kNone) { return Status(kInvalidArgument, sub); }

  /// The file system failed.
  static Status IOError(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, kNone, msg, msg2);
  }
  static Status IOError(SubCode sub = kNone) { return Status(kIOError, sub); }

  /// The operands' base value is not known here.
  static Status MergeInProgress(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kMergeInProgress, kNone, msg, msg2);
  }
  static Status MergeInProgress(SubCode sub = kNone) { return Status(kMergeInProgress, sub); }

  /// The call stopped at a limit.
  static Status Incomplete(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIncomplete, kNone, msg, msg2);
  }
  static Status Incomplete(SubCode sub = kNone) { return Status(kIncomplete, sub); }

  /// The database is closed, or is being closed.
  static Status ShutdownInProgress(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kShutdownInProgress, kNone, msg, msg2);
  }
  static Status ShutdownInProgress(SubCode sub = kNone) { return Status(kShutdownInProgress, sub); }

  /// The call was ended for a reason that its caller did not ask for.
  static Status Aborted(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kAborted, kNone, msg, msg2);
  }
  static Status Aborted(SubCode sub = kNone) { return Status(kAborted, sub); }

  /// Another call or transaction is in the way.
  static Status Busy(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kBusy, kNone, msg, msg2);
  }
  static Status Busy(SubCode sub = kNone) { return Status(kBusy, sub); }

  /// The deadline or the timeout of the call has passed.
  static Status TimedOut(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kTimedOut, kNone, msg, msg2);
  }
  static Status TimedOut(SubCode sub = kNone) { return Status(kTimedOut, sub); }

  /// The transaction, or the position of a change stream, has exceeded its time or its bounds.
  static Status Expired(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kExpired, kNone, msg, msg2);
  }
  static Status Expired(SubCode sub = kNone) { return Status(kExpired, sub); }

  /// Something that the call relied on has changed meanwhile, and a repetition may succeed.
  static Status TryAgain(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kTryAgain, kNone, msg, msg2);
  }
  static Status TryAgain(SubCode sub = kNone) { return Status(kTryAgain, sub); }

  /// A compaction does not fit into the space that is left.
  static Status CompactionTooLarge(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kCompactionTooLarge, kNone, msg, msg2);
  }
  static Status CompactionTooLarge(SubCode sub = kNone) { return Status(kCompactionTooLarge, sub); }

  /// The column family has been dropped.
  static Status ColumnFamilyDropped(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kColumnFamilyDropped, kNone, msg, msg2);
  }
  static Status ColumnFamilyDropped(SubCode sub = kNone) {
    return Status(kColumnFamilyDropped, sub);
  }

  // The following are named after a subcode, and set the code that goes with it.

  /// The disk or the user's quota is full.
  static Status NoSpace() { return Status(kIOError, kNoSpace); }
  static Status NoSpace(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, kNoSpace, msg, msg2);
  }
  /// The limit of an SstFileManager is reached.
  static Status SpaceLimit() { return Status(kIOError, kSpaceLimit); }
  static Status SpaceLimit(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, kSpaceLimit, msg, msg2);
  }
  /// The path does not exist.
  static Status PathNotFound() { return Status(kIOError, kPathNotFound); }
  static Status PathNotFound(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, kPathNotFound, msg, msg2);
  }
  /// There is no memory, or a limit of memory is reached.
  static Status MemoryLimit() { return Status(kAborted, kMemoryLimit); }
  static Status MemoryLimit(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kAborted, kMemoryLimit, msg, msg2);
  }
  /// TransactionDBOptions::max_num_locks is reached.
  static Status LockLimit() { return Status(kAborted, kLockLimit); }
  static Status LockLimit(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kAborted, kLockLimit, msg, msg2);
  }
  /// The transaction must be prepared before it is committed.
  static Status TxnNotPrepared() { return Status(kInvalidArgument, kTxnNotPrepared); }
  static Status TxnNotPrepared(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kInvalidArgument, kTxnNotPrepared, msg, msg2);
  }

  // ---- Predicates ----

  /// True for success, whatever the subcode is.
  bool ok() const { return cause_.code == kOk; }
  // Each function below is true for its code with any subcode, or for its code and subcode.
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

  /// The next functions compare code and subcode, so IsAborted() is true for the first two as well.
  bool IsLockLimit() const { return Is(kAborted, kLockLimit); }
  bool IsMemoryLimit() const { return Is(kAborted, kMemoryLimit); }
  bool IsSpaceLimit() const { return Is(kIOError, kSpaceLimit); }
  /// True for Busy with this subcode: roll back, and repeat the transaction.
  bool IsDeadlock() const { return Is(kBusy, kDeadlock); }
  /// True for IOError with this subcode. A database recovers by itself once there is space again,
  /// within DBOptions::max_bgerror_resume_count attempts.
  bool IsNoSpace() const { return Is(kIOError, kNoSpace); }
  bool IsIOFenced() const { return Is(kIOError, kIOFenced); }
  /// True for IOError and NotFound with this subcode.
  bool IsPathNotFound() const {
    return Is(kIOError, kPathNotFound) || Is(kNotFound, kPathNotFound);
  }
  /// True for Incomplete with this subcode.
  bool IsManualCompactionPaused() const { return Is(kIncomplete, kManualCompactionPaused); }
  /// Always false for results of this library.
  bool IsCompactionAborted() const { return Is(kIncomplete, kCompactionAborted); }
  /// True for InvalidArgument with this subcode.
  bool IsTxnNotPrepared() const { return Is(kInvalidArgument, kTxnNotPrepared); }

 protected:
  /// Make a status without a message, and with one.
  explicit Status(Code code, SubCode subcode = kNone) : cause_{code, subcode} {}
  Status(Code code, SubCode subcode, const Slice& msg, const Slice& msg2);

  // All parts but the message, aligned so that copies take one word, as every call returns a
  // Status.
  struct alignas(8) Cause {
    Code code = kOk;
    SubCode subcode = kNone;
    Severity severity = kNoError;
    // A file system sets the next three through IOStatus.
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
  /// Returns a copy of the message; null if there is no memory.
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
