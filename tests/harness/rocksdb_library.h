// SPDX-License-Identifier: Apache-2.0
#pragma once

// RocksDB's C API, found in its library at run time: Varve's own has the same names.

#include <string>
#include <type_traits>

namespace varve::testing {

class RocksDbLibrary {
 public:
  // Returns null where there is none. VARVE_ROCKSDB_LIBRARY names another than the one that was
  // built with; a relative path begins at the root of the tree.
  static RocksDbLibrary* Get();
  // As dlopen gave it.
  void* handle() const { return handle_; }

  template <typename Result, typename... Args>
  Result Call(const char* name, Args... args) const {
    return reinterpret_cast<Result (*)(Args...)>(Find(name))(args...);
  }
  // For functions whose last argument is the place of an error: *error is its text, or "".
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
  // Without its "rocksdb_". Ends the process when there is no such function.
  void* Find(const char* name) const;
  static void Take(char* text, std::string* error);

  void* const handle_;
};

}  // namespace varve::testing
