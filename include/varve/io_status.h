// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// IOStatus is the result of file system calls. It adds to Status whether a retry may help, whether
// data is lost, and how much is affected. The library carries these three to the caller and to
// listeners, and does not act on them: it decides by code and subcode (Status::Severity).
//
//   varve::IOStatus Append(const varve::Slice& data, ...) override {
//     if (Full()) {
//       varve::IOStatus s = varve::IOStatus::NoSpace("my store", name_);
//       s.SetRetryable(true);
//       return s;
//     }
//     ...
//   }

#include <utility>

#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

/// The result of a file system call. Converts to Status without loss, and has the same size and
/// cost. The three fields below describe a failure to programs and to file systems that wrap
/// others; the library does not decide by them. Const methods may be called by many threads at
/// once.
class [[nodiscard]] IOStatus : public Status {
 public:
  // File systems may name the enums of Status through this class.
  using Code = Status::Code;
  using SubCode = Status::SubCode;

  /// Says how much of the storage an error affects.
  enum IOErrorScope : unsigned char {
    /// The whole file system; the default.
    kIOErrorScopeFileSystem,
    /// One file.
    kIOErrorScopeFile,
    /// A range of bytes of one file.
    kIOErrorScopeRange,
    // The number of scopes. It is no scope itself.
    kIOErrorScopeMax,
  };

  IOStatus() = default;

  /// Says if the same call may succeed later. The built-in file systems set it for NoSpace.
  void SetRetryable(bool retryable) { cause_.retryable = retryable; }
  /// Says if bytes that were stored are gone. The built-in file systems never set it.
  void SetDataLoss(bool data_loss) { cause_.data_loss = data_loss; }
  /// Says how much of the storage is affected.
  void SetScope(IOErrorScope scope) { cause_.scope = scope; }
  /// Return what was set; the defaults are false, false and kIOErrorScopeFileSystem.
  bool GetRetryable() const { return cause_.retryable; }
  bool GetDataLoss() const { return cause_.data_loss; }
  IOErrorScope GetScope() const { return static_cast<IOErrorScope>(cause_.scope); }

  // The factories have the meaning of those in Status: texts are copied, and two of them make the
  // message "msg: msg2".

  static IOStatus OK() { return IOStatus(); }

  // The file or directory does not exist. The library treats PathNotFound alike.
  static IOStatus NotFound(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kNotFound, kNone, msg, msg2);
  }
  static IOStatus NotFound(SubCode sub = kNone) { return IOStatus(kNotFound, sub); }

  // Stored bytes are damaged. If background work gets it from a read, the database refuses writes
  // (Status::kUnrecoverableError).
  static IOStatus Corruption(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kCorruption, kNone, msg, msg2);
  }
  static IOStatus Corruption(SubCode sub = kNone) { return IOStatus(kCorruption, sub); }

  // The file system lacks the function. Where the library has another way, it takes that: it copies
  // instead of linking, and reads ahead itself.
  static IOStatus NotSupported(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kNotSupported, kNone, msg, msg2);
  }
  static IOStatus NotSupported(SubCode sub = kNone) { return IOStatus(kNotSupported, sub); }

  // An argument is wrong, and nothing was changed.
  static IOStatus InvalidArgument(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kInvalidArgument, kNone, msg, msg2);
  }
  static IOStatus InvalidArgument(SubCode sub = kNone) { return IOStatus(kInvalidArgument, sub); }

  // Storage failed. Background work that gets it is tried again at most
  // DBOptions::max_bgerror_resume_count times.
  static IOStatus IOError(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kIOError, kNone, msg, msg2);
  }
  static IOStatus IOError(SubCode sub = kNone) { return IOStatus(kIOError, sub); }

  // Something else uses the file.
  static IOStatus Busy(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kBusy, kNone, msg, msg2);
  }
  static IOStatus Busy(SubCode sub = kNone) { return IOStatus(kBusy, sub); }

  // The time of IOOptions::timeout has passed.
  static IOStatus TimedOut(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kTimedOut, kNone, msg, msg2);
  }
  static IOStatus TimedOut(SubCode sub = kNone) { return IOStatus(kTimedOut, sub); }

  // The call was ended, for instance by AbortIO.
  static IOStatus Aborted(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kAborted, kNone, msg, msg2);
  }
  static IOStatus Aborted(SubCode sub = kNone) { return IOStatus(kAborted, sub); }

  // The disk or the user's quota is full.
  static IOStatus NoSpace() { return IOStatus(kIOError, kNoSpace); }
  static IOStatus NoSpace(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kIOError, kNoSpace, msg, msg2);
  }
  // The path does not exist.
  static IOStatus PathNotFound() { return IOStatus(kIOError, kPathNotFound); }
  static IOStatus PathNotFound(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kIOError, kPathNotFound, msg, msg2);
  }
  /// Another process has taken over the storage.
  static IOStatus IOFenced() { return IOStatus(kIOError, kIOFenced); }
  static IOStatus IOFenced(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kIOError, kIOFenced, msg, msg2);
  }

 private:
  friend IOStatus status_to_io_status(Status&& status);

  explicit IOStatus(Status&& status) : Status(std::move(status)) {}
  explicit IOStatus(Code code, SubCode subcode) : Status(code, subcode) {}
  IOStatus(Code code, SubCode subcode, const Slice& msg, const Slice& msg2)
      : Status(code, subcode, msg, msg2) {}
};

/// Converts a Status. All of its parts are kept, including fields that an IOStatus had set before
/// it was converted to Status.
inline IOStatus status_to_io_status(Status&& status) {
  return IOStatus(std::move(status));
}

}  // namespace varve
