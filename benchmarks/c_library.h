// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loads a library with the C API by name at run time, so that one program can measure this engine
// and any other.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>

namespace c_library {

// Stands for every type that the C API hides.
struct Opaque;

// Ends the program with the message.
[[noreturn]] inline void Die(const char* why) {
  std::fprintf(stderr, "%s\n", why);
  std::exit(1);
}

// Finds functions of a library by their names after a prefix. The program ends when the library, a
// function or a call fails. The library is never unloaded. Argument types are those of the
// parameters that are passed, which must be exactly those of the function: nothing converts them.
class Library {
 public:
  explicit Library(const std::string& path, std::string prefix = "rocksdb_")
      : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)), prefix_(std::move(prefix)) {
    if (handle_ == nullptr) Die(dlerror());
  }
  // True if the library has a function of that name.
  bool Has(const char* name) const { return dlsym(handle_, (prefix_ + name).c_str()) != nullptr; }
  // Returns a function for the caller to keep, so that calls whose cost matters do not look it up.
  template <typename Signature>
  Signature* Function(const char* name) const {
    void* const symbol = dlsym(handle_, (prefix_ + name).c_str());
    if (symbol == nullptr) Die(dlerror());
    return reinterpret_cast<Signature*>(symbol);
  }
  template <typename Result, typename... Args>
  Result Call(const char* name, Args... args) const {
    return Function<Result(Args...)>(name)(args...);
  }
  // Calls a function whose last argument receives the error. The program ends if there is one.
  template <typename Result, typename... Args>
  Result Checked(const char* name, Args... args) const {
    char* error = nullptr;
    if constexpr (std::is_void_v<Result>) {
      Call<void>(name, args..., &error);
      if (error != nullptr) Die(error);
    } else {
      Result result = Call<Result>(name, args..., &error);
      if (error != nullptr) Die(error);
      return result;
    }
  }

 private:
  void* const handle_;
  const std::string prefix_;
};

}  // namespace c_library
