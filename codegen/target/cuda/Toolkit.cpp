// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/target/cuda/Toolkit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include <algorithm>

namespace stator::codegen {

namespace {
using Folders = llvm::SmallVector<std::string>;
}

static void addEnvironment(Folders &folders, const char *variable) {
  if (auto value = llvm::sys::Process::GetEnv(variable); value && !value->empty()) folders.push_back(*value);
}

/// The folders of the wheels: `lib/python*/{site,dist}-packages/nvidia/*`, in order of their names.
static void addWheels(Folders &folders, llvm::StringRef prefix) {
  auto entries = [](llvm::StringRef folder, llvm::StringRef start) {
    Folders found;
    std::error_code error;
    for (llvm::sys::fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
      if (llvm::sys::path::filename(it->path()).starts_with(start)) found.push_back(it->path());
    std::sort(found.begin(), found.end());
    return found;
  };
  llvm::SmallString<128> lib(prefix);
  llvm::sys::path::append(lib, "lib");
  for (const std::string &python : entries(lib, "python"))
    for (const char *packages : {"site-packages", "dist-packages"}) {
      llvm::SmallString<128> nvidia(python);
      llvm::sys::path::append(nvidia, packages, "nvidia");
      Folders wheels = entries(nvidia, "");
      folders.append(wheels.begin(), wheels.end());
    }
}

CudaToolkit findCudaToolkit(llvm::StringRef folder) {
  Folders folders;
  if (!folder.empty()) {
    folders.push_back(folder.str());
  } else {
    addEnvironment(folders, "CUDA_HOME");
    addEnvironment(folders, "CUDA_PATH");
    if (auto ptxas = llvm::sys::findProgramByName("ptxas"))
      folders.push_back(llvm::sys::path::parent_path(llvm::sys::path::parent_path(*ptxas)).str());
    folders.push_back("/usr/local/cuda");
    Folders prefixes;
    addEnvironment(prefixes, "VIRTUAL_ENV");
    if (auto home = llvm::sys::Process::GetEnv("HOME")) prefixes.push_back(*home + "/.local");
    prefixes.push_back("/usr/local");
    prefixes.push_back("/usr");
    for (const std::string &prefix : prefixes) addWheels(folders, prefix);
  }
  CudaToolkit toolkit;
  auto look = [](std::string &found, llvm::StringRef folder, llvm::StringRef relative) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, relative);
    if (found.empty() && llvm::sys::fs::exists(path)) found = path.str().str();
  };
  for (const std::string &at : folders) {
    look(toolkit.ptxas, at, "bin/ptxas");
    look(toolkit.libdevice, at, "nvvm/libdevice/libdevice.10.bc");
    look(toolkit.libdevice, at, "libdevice/libdevice.10.bc");
  }
  return toolkit;
}

} // namespace stator::codegen
