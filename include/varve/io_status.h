// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// IOStatus is the result of file system calls. It adds to Status if a retry may help, if data is
// lost, and how much is affected.

#include <utility>

#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

/// Converts to Status without loss, and has the same size and cost.
class [[nodiscard]] IOStatus : public Status {
 public:
  using Code = Status::Code;
  using SubCode = Status::SubCode;

  /// How much of the storage an error affects.
  enum IOErrorScope : unsigned char {
    kIOErrorScopeFileSystem,
    kIOErrorScopeFile,
    /// Range of bytes of one file.
    kIOErrorScopeRange,
    kIOErrorScopeMax,
  };

  IOStatus() = default;

  void SetRetryable(bool retryable) { cause_.retryable = retryable; }
  void SetDataLoss(bool data_loss) { cause_.data_loss = data_loss; }
  void SetScope(IOErrorScope scope) { cause_.scope = scope; }
  bool GetRetryable() const { return cause_.retryable; }
  bool GetDataLoss() const { return cause_.data_loss; }
  IOErrorScope GetScope() const { return static_cast<IOErrorScope>(cause_.scope); }

  static IOStatus OK() { return IOStatus(); }

  static IOStatus NotFound(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kNotFound, kNone, msg, msg2);
  }
  static IOStatus NotFound(SubCode sub = kNone) { return IOStatus(kNotFound, sub); }

  static IOStatus Corruption(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kCorruption, kNone, msg, msg2);
  }
  static IOStatus Corruption(SubCode sub = kNone) { return IOStatus(kCorruption, sub); }

  static IOStatus NotSupported(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kNotSupported, kNone, msg, msg2);
  }
  static IOStatus NotSupported(SubCode sub = kNone) { return IOStatus(kNotSupported, sub); }

  static IOStatus InvalidArgument(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kInvalidArgument, kNone, msg, msg2);
  }
  static IOStatus InvalidArgument(SubCode sub = kNone) { return IOStatus(kInvalidArgument, sub); }

  static IOStatus IOError(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kIOError, kNone, msg, msg2);
  }
  static IOStatus IOError(SubCode sub = kNone) { return IOStatus(kIOError, sub); }

  static IOStatus Busy(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kBusy, kNone, msg, msg2);
  }
  static IOStatus Busy(SubCode sub = kNone) { return IOStatus(kBusy, sub); }

  static IOStatus TimedOut(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kTimedOut, kNone, msg, msg2);
  }
  static IOStatus TimedOut(SubCode sub = kNone) { return IOStatus(kTimedOut, sub); }

  static IOStatus Aborted(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kAborted, kNone, msg, msg2);
  }
  static IOStatus Aborted(SubCode sub = kNone) { return IOStatus(kAborted, sub); }

  static IOStatus NoSpace() { return IOStatus(kIOError, kNoSpace); }
  static IOStatus NoSpace(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kIOError, kNoSpace, msg, msg2);
  }
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

/// Keeps everything, including fields that an IOStatus set before it was converted to Status.
inline IOStatus status_to_io_status(Status&& status) {
  return IOStatus(std::move(status));
}

}  // namespace varve
