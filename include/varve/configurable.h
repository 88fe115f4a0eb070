// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Configurable is an object whose options are set, printed and compared as text, in the form that
// varve/convenience.h describes.

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "varve/export.h"
#include "varve/status.h"

namespace varve {

struct ColumnFamilyOptions;
struct ConfigOptions;
struct DBOptions;

/// The base of all objects that options can name: comparators, factories, caches, file systems. It
/// gives them options of their own, which are set from text, printed and compared.
///
/// By default an object has no options. A class with options overrides ConfigureOptions() and
/// PrintOptions(), on which all other functions are based, and GetOptionsPtr() if it exposes them
/// as a struct. Varve has neither RegisterOptions() nor OptionTypeInfo.
///
/// Thread safety: that of the derived class; configuring functions are for one thread, before the
/// object is in use.
class VARVE_EXPORT Configurable {
 public:
  Configurable() = default;
  Configurable(const Configurable&) = default;
  Configurable& operator=(const Configurable&) = default;
  virtual ~Configurable();

  /// Returns the options struct with the given name, or T::kName(); null if there is none.
  template <typename T>
  const T* GetOptions(const std::string& name) const {
    return static_cast<const T*>(GetOptionsPtr(name));
  }
  template <typename T>
  T* GetOptions(const std::string& name) {
    return const_cast<T*>(static_cast<const T*>(GetOptionsPtr(name)));
  }
  template <typename T>
  const T* GetOptions() const {
    return GetOptions<T>(T::kName());
  }
  template <typename T>
  T* GetOptions() {
    return GetOptions<T>(T::kName());
  }

  // Functions that set options set all or none, and then call PrepareOptions(), unless
  // config_options.invoke_prepare_options is false. NotFound: a name that the object does not have;
  // InvalidArgument: a value that is not allowed.

  /// Skips unknown names if config_options.ignore_unknown_options.
  Status ConfigureFromMap(const ConfigOptions& config_options,
                          const std::unordered_map<std::string, std::string>& opt_map);
  /// Adds unknown names to `unused` instead, which may be null.
  Status ConfigureFromMap(const ConfigOptions& config_options,
                          const std::unordered_map<std::string, std::string>& opt_map,
                          std::unordered_map<std::string, std::string>* unused);
  /// Sets options from "name=value;...", with or without braces.
  Status ConfigureFromString(const ConfigOptions& config_options, const std::string& opts);
  /// Sets one option, whose name must be known.
  Status ConfigureOption(const ConfigOptions& config_options, const std::string& name,
                         const std::string& value);

  // Functions that return options, if these have a text form.

  /// Returns a text that ConfigureFromString() accepts.
  Status GetOptionString(const ConfigOptions& config_options, std::string* result) const;
  /// Returns that text in braces, with "id=..." first if the object has an id; the id alone if
  /// there are no options, or with config_options.IsShallow(). `prefix` is put before each name.
  std::string ToString(const ConfigOptions& config_options) const;
  std::string ToString(const ConfigOptions& config_options, const std::string& prefix) const;
  /// Adds the names of the options to *result, and removes none.
  Status GetOptionNames(const ConfigOptions& config_options,
                        std::unordered_set<std::string>* result) const;
  /// Returns the option's value. NotFound: there is no option of that name.
  virtual Status GetOption(const ConfigOptions& config_options, const std::string& name,
                           std::string* value) const;

  /// True if the options are equal at config_options.sanity_level; below kSanityLevelExactMatch
  /// they are not compared. Sets `*name` to the first that differs, and leaves it if none does, or
  /// if `other` is null, which makes the answer false.
  virtual bool AreEquivalent(const ConfigOptions& config_options, const Configurable* other,
                             std::string* name) const;

  /// Returns a readable text.
  virtual std::string GetPrintableOptions() const { return ""; }

  /// Parses the text of an object: "id", or "id=...;name=value;...", with or without braces.
  /// Without an id, it is `default_id` or, if that is empty as well, the whole text. `*id` is empty
  /// for "" and "nullptr".
  static Status GetOptionsMap(const std::string& opt_value, const std::string& default_id,
                              std::string* id,
                              std::unordered_map<std::string, std::string>* options);

  /// Prepares the object for use according to its options.
  virtual Status PrepareOptions(const ConfigOptions& config_options);
  /// Checks that the options agree with each other, and with those of a database.
  virtual Status ValidateOptions(const DBOptions& db_opts,
                                 const ColumnFamilyOptions& cf_opts) const;

 protected:
  /// Names the object's id in texts of options ("id=..."). No option has this name; Customizable
  /// returns the id for it.
  static constexpr const char* kIdOption = "id";

  virtual const void* GetOptionsPtr(const std::string& name) const;

  /// Sets the options that the object has; passes others to the base class, which refuses, skips or
  /// collects them. Changes nothing if it returns an error.
  virtual Status ConfigureOptions(const ConfigOptions& config_options,
                                  const std::unordered_map<std::string, std::string>& opts_map,
                                  std::unordered_map<std::string, std::string>* unused);
  /// Called by ConfigureFromString() for a text without "=". The default ignores it, or returns
  /// InvalidArgument if the object has options.
  virtual Status ParseStringOptions(const ConfigOptions& config_options,
                                    const std::string& opts_str);
  /// Returns "name=value;..." of all options; values with ';' are in braces.
  virtual std::string PrintOptions(const ConfigOptions& config_options) const;
};

}  // namespace varve
