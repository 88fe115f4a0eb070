// SPDX-License-Identifier: Apache-2.0

// The command `serve-metrics` answers collectors with the metrics of a database that it reads
// beside its writer, or with the text that a process writes to a file.

#include <sys/stat.h>

#include <csignal>
#include <memory>
#include <string>

#include "varve/env.h"
#include "varve/utilities/metrics.h"

#include "tools/varve/commands.h"
#include "tools/varve/database.h"
#include "tools/varve/http_server.h"
#include "util/base/status_macros.h"

namespace varve::tool {

namespace {

constexpr char kPage[] = "/metrics";
constexpr char kPrometheusType[] = "text/plain; version=0.0.4; charset=utf-8";
constexpr char kOpenMetricsType[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";

// Serves the text of one file.
Status FilePage(const std::string& path, std::string* type, std::string* body) {
  VARVE_RETURN_IF_ERROR(ReadFileToString(Env::Default(), path, body));
  *type = body->ends_with("# EOF\n") ? kOpenMetricsType : kPrometheusType;
  return Status::OK();
}

Status DatabasePage(const Database& database, const HttpRequest& request, std::string* type,
                    std::string* body) {
  MetricsOptions options;
  if (request.openmetrics) options.format = MetricsOptions::Format::kOpenMetrics;
  *type = request.openmetrics ? kOpenMetricsType : kPrometheusType;
  return WriteMetrics(database.db(), options, body);
}

bool IsFile(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode);
}

// Chooses what is served, and tries it once, so that a wrong path is an error of the command.
Status ChoosePage(const Request& request, HttpServer::MakePage* make) {
  std::string type;
  std::string body;
  if (IsFile(request.db)) {
    *make = [path = request.db](const HttpRequest&, std::string* t, std::string* b) {
      return FilePage(path, t, b);
    };
    return FilePage(request.db, &type, &body);
  }
  std::unique_ptr<Database> opened;
  if (request.target.empty()) {
    *make = [path = request.db](const HttpRequest& asked, std::string* t, std::string* b) {
      std::unique_ptr<Database> fresh;
      VARVE_RETURN_IF_ERROR(Database::OpenForReading(path, "", &fresh));
      return DatabasePage(*fresh, asked, t, b);
    };
    return (*make)(HttpRequest(), &type, &body);
  }
  VARVE_RETURN_IF_ERROR(Database::OpenAsSecondary(request.db, request.target, &opened));
  *make = [database = std::shared_ptr<Database>(std::move(opened))](
              const HttpRequest& asked, std::string* t, std::string* b) {
    VARVE_RETURN_IF_ERROR(database->db()->TryCatchUpWithPrimary());
    return DatabasePage(*database, asked, t, b);
  };
  return Status::OK();
}

}  // namespace

Status RunServeMetrics(const Request& request, Console* console) {
  // Threads of the database inherit this, so that the signals come to the one that serves.
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  HttpServer::MakePage make;
  VARVE_RETURN_IF_ERROR(ChoosePage(request, &make));
  HttpServer server(kPage, std::move(make));
  VARVE_RETURN_IF_ERROR(server.Listen(request.port));
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + kPage;
  Json json;
  json.BeginObject().Text("url", url).EndObject();
  if (console->json) {
    console->Line(&json);
  } else {
    console->Line("serving " + url);
  }
  console->out.Flush();
  return server.Run();
}

}  // namespace varve::tool
