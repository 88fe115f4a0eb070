// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Configurable: an object whose options are set, printed and compared as text, of the form that
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

/// By default an object has no options. A class that has some overrides ConfigureOptions() and
/// PrintOptions(), from which everything else follows, and GetOptionsPtr(), if it shows them as a
/// struct: Varve has neither RegisterOptions() nor OptionTypeInfo.
///
/// Thread safety: as that of the class derived from it; what configures is for one thread, before
/// the object is in use.
class VARVE_EXPORT Configurable {
 public:
  Configurable() = default;
  Configurable(const Configurable&) = default;
  Configurable& operator=(const Configurable&) = default;
  virtual ~Configurable();

  /// The struct of options that is called `name`, or T::kName(); null if there is none.
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

  // Setting options. All of them are set, or none. PrepareOptions() follows, unless
  // config_options.invoke_prepare_options is off.
  // NotFound: a name that the object does not have; InvalidArgument: a value that it cannot have.

  /// Skips names that the object does not have if config_options.ignore_unknown_options.
  Status ConfigureFromMap(const ConfigOptions& config_options,
                          const std::unordered_map<std::string, std::string>& opt_map);
  /// Adds them to `unused` instead, which may be null.
  Status ConfigureFromMap(const ConfigOptions& config_options,
                          const std::unordered_map<std::string, std::string>& opt_map,
                          std::unordered_map<std::string, std::string>* unused);
  /// "name=value;...", in braces or not.
  Status ConfigureFromString(const ConfigOptions& config_options, const std::string& opts);
  /// One option, whose name must be known.
  Status ConfigureOption(const ConfigOptions& config_options, const std::string& name,
                         const std::string& value);

  // Asking for options: those that have a text.

  /// What ConfigureFromString() reads.
  Status GetOptionString(const ConfigOptions& config_options, std::string* result) const;
  /// The same in braces, with "id=..." first if the object has an id; the id alone if there are no
  /// options, or config_options.IsShallow(). `prefix` stands before each name.
  std::string ToString(const ConfigOptions& config_options) const;
  std::string ToString(const ConfigOptions& config_options, const std::string& prefix) const;
  /// Adds the names to `result`.
  Status GetOptionNames(const ConfigOptions& config_options,
                        std::unordered_set<std::string>* result) const;
  /// NotFound: there is no option of that name.
  virtual Status GetOption(const ConfigOptions& config_options, const std::string& name,
                           std::string* value) const;

  /// Whether the options are the same, to config_options.sanity_level: below
  /// kSanityLevelExactMatch they are not compared. `*name` becomes the first that differs.
  virtual bool AreEquivalent(const ConfigOptions& config_options, const Configurable* other,
                             std::string* name) const;

  /// For people to read.
  virtual std::string GetPrintableOptions() const { return ""; }

  /// Takes the text of an object apart: "id", or "id=...;name=value;...", in braces or not; without
  /// an id, that is `default_id` or, if that is empty as well, the whole text. `*id` is empty for
  /// "" and "nullptr".
  static Status GetOptionsMap(const std::string& opt_value, const std::string& default_id,
                              std::string* id,
                              std::unordered_map<std::string, std::string>* options);

  /// Makes the object ready to be used as its options say.
  virtual Status PrepareOptions(const ConfigOptions& config_options);
  /// Whether the options agree with each other, and with those of a database.
  virtual Status ValidateOptions(const DBOptions& db_opts,
                                 const ColumnFamilyOptions& cf_opts) const;

 protected:
  /// Not the name of an option, but of what Customizable answers with the object's id.
  static constexpr const char* kIdOption = "id";

  virtual const void* GetOptionsPtr(const std::string& name) const;

  /// Sets the options that the object has; others are handed to the base class, which refuses,
  /// skips or collects them. After an error nothing has changed.
  virtual Status ConfigureOptions(const ConfigOptions& config_options,
                                  const std::unordered_map<std::string, std::string>& opts_map,
                                  std::unordered_map<std::string, std::string>* unused);
  /// ConfigureFromString() of a text without "=". By default it is skipped, or InvalidArgument if
  /// the object has options.
  virtual Status ParseStringOptions(const ConfigOptions& config_options,
                                    const std::string& opts_str);
  /// "name=value;..." of all options; a value with ';' in it is in braces.
  virtual std::string PrintOptions(const ConfigOptions& config_options) const;
};

}  // namespace varve
