// SPDX-License-Identifier: Apache-2.0
// Implements errors and malloc'ed results for the C API.
#include <cstdlib>
#include <exception>
#include <new>

#include "db/api/c/c_types.h"
#include "util/base/assert.h"

void rocksdb_free(void* ptr) {
  std::free(ptr);
}

namespace varve::c {

Status CaughtException() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit();
  } catch (const std::exception& e) {
    return Try([&] { return Status::Aborted("C API: exception", e.what()); },
               Status::MemoryLimit());
  } catch (...) {
    return Status::Aborted();
  }
}

void SetError(char** errptr, const Status& status, const char* call) noexcept {
  VARVE_ASSERT(!status.ok());
  // A caller who passes no place does not want to know.
  if (errptr == nullptr) return;
  char* text = Try([&] {
    std::string message = status.ToString();
    // Errors of this API itself name the function that the program has called.
    const size_t mark = message.find("C API:");
    if (mark != std::string::npos) message.replace(mark, std::strlen("C API"), call);
    return CopyText(message);
  });
  // If even this copy fails, *errptr becomes null, which looks like a success: then only the null
  // pointer that most functions return as their result shows the failure.
  if (text == nullptr) text = CopyText("Out of memory");
  std::free(*errptr);
  *errptr = text;
}

Status NullArgument(const char* name) {
  VARVE_ASSERT(name != nullptr);
  return Status::InvalidArgument("C API: null argument", name);
}

char* CopyBytes(const Slice& bytes) noexcept {
  // malloc(0) may return null, which means that there is no value.
  char* copy = static_cast<char*>(std::malloc(bytes.size() == 0 ? 1 : bytes.size()));
  if (copy != nullptr && bytes.size() != 0) std::memcpy(copy, bytes.data(), bytes.size());
  return copy;
}

char* CopyText(const Slice& text) noexcept {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return nullptr;
  if (text.size() != 0) std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

Status ToMap(int count, const char* const* keys, const char* const* values,
             std::unordered_map<std::string, std::string>* map) {
  if (count < 0) return Status::InvalidArgument("C API: negative number of options");
  if (count > 0 && (keys == nullptr || values == nullptr)) return NullArgument("keys or values");
  for (int i = 0; i < count; ++i) {
    if (keys[i] == nullptr || values[i] == nullptr) return NullArgument("option name or value");
    (*map)[keys[i]] = values[i];
  }
  return Status::OK();
}

}  // namespace varve::c
