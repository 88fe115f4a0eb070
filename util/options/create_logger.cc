// SPDX-License-Identifier: Apache-2.0

// Creates the info logger that options ask for.

#include "varve/env.h"
#include "varve/options.h"

#include "util/env/info_log.h"

namespace varve {

Status CreateLoggerFromOptions(const std::string& dbname, const DBOptions& options,
                               std::shared_ptr<Logger>* logger) {
  if (options.info_log != nullptr) {
    *logger = options.info_log;
    return Status::OK();
  }
  const InfoLogOptions log_options = {.level = options.info_log_level,
                                      .max_log_file_size = options.max_log_file_size,
                                      .log_file_time_to_roll = options.log_file_time_to_roll,
                                      .keep_log_file_num = options.keep_log_file_num};
  return OpenInfoLog(options.env->GetFileSystem(), options.env->GetSystemClock(), dbname,
                     options.db_log_dir, log_options, logger);
}

}  // namespace varve
