// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loads RocksDB's C API from its library at run time, because Varve's own has the same names.

#include <string>
#include <type_traits>

namespace varve::testing {

class RocksDbLibrary {
 public:
  // Returns null if there is none. VARVE_ROCKSDB_LIBRARY names another library than the one of the
  // build; a relative path begins at the root of the tree.
  static RocksDbLibrary* Get();
  // Returns the handle from dlopen.
  void* handle() const { return handle_; }

  template <typename Result, typename... Args>
  Result Call(const char* name, Args... args) const {
    return reinterpret_cast<Result (*)(Args...)>(Find(name))(args...);
  }
  // Calls a function whose last argument returns an error: *error is its text, or "".
  template <typename Result, typename... Args>
  Result Checked(std::string* error, const char* name, Args... args) const {
    char* text = nullptr;
    if constexpr (std::is_void_v<Result>) {
      Call<void>(name, args..., &text);
      Take(text, error);
    } else {
      Result result = Call<Result>(name, args..., &text);
      Take(text, error);
      return result;
    }
  }

 private:
  explicit RocksDbLibrary(void* handle) : handle_(handle) {}
  // Finds a function; `name` lacks the prefix "rocksdb_". Ends the process if there is no such
  // function.
  void* Find(const char* name) const;
  static void Take(char* text, std::string* error);

  void* const handle_;
};

}  // namespace varve::testing
