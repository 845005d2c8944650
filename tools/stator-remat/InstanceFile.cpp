// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator-remat/InstanceFile.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace stator::remat {

using Json = nlohmann::ordered_json;

std::string writeInstance(const Graph &graph, const std::string &name) {
  // A node a line, so that errors and differences have lines.
  std::string text = "{\"name\": " + Json(name).dump() + ",\n \"nodes\": [\n";
  for (size_t k = 0; k < graph.nodes.size(); ++k) {
    const Node &v = graph.nodes[k];
    Json node = {{"id", k},
                 {"name", v.name},
                 {"inputs", v.inputs},
                 {"bytes", v.bytes},
                 {"cost", v.cost},
                 {"is_recomputable", v.recomputable},
                 {"is_backward", v.backward},
                 {"must_keep", v.keep}};
    text += "  " + node.dump() + (k + 1 < graph.nodes.size() ? ",\n" : "\n");
  }
  text += " ]";
  if (!graph.regions.empty()) {
    Json regions = Json::array();
    for (const Region &r : graph.regions)
      regions.push_back(
          {{"kind", r.kind == Region::Kind::Keep ? "keep" : "checkpoint"}, {"name", r.name}, {"nodes", r.nodes}});
    text += ",\n \"regions\": " + regions.dump();
  }
  return text + "}\n";
}

std::string writeSchedule(const Result &result, int64_t budget) {
  Json doc = {{"budget", budget},
              {"peak", result.peak},
              {"store_all_peak", result.storeAllPeak},
              {"extra_cost", result.extraCost},
              {"base_cost", result.baseCost},
              {"bound", result.bound},
              {"floor", result.floor},
              {"schedule", result.schedule}};
  return doc.dump() + "\n";
}

std::string writeFileAtomically(const std::string &path, const std::string &text) {
  auto failed = [&](const char *what) { return path + ": " + what + ": " + std::strerror(errno); };
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) return path + ": is not a regular file";
  std::string temporary = path + ".XXXXXX";
  int fd = mkstemp(temporary.data());
  if (fd < 0) return failed("cannot create a temporary beside it");
  size_t done = 0;
  while (done < text.size()) {
    ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    done += size_t(n);
  }
  mode_t mask = umask(0);
  umask(mask);
  bool ok = done == text.size() && fchmod(fd, 0666 & ~mask) == 0 && fsync(fd) == 0;
  std::string error = ok ? "" : failed("cannot be written");
  if (close(fd) != 0 && ok) error = failed("cannot be written");
  if (error.empty() && rename(temporary.c_str(), path.c_str()) != 0) error = failed("cannot be replaced");
  if (!error.empty()) unlink(temporary.c_str());
  return error;
}

} // namespace stator::remat
