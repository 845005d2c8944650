// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stator-litmus: prints the table of litmus items, each judged, and whether its clean twins stay silent. Exit status 0
// where everything is as expected. Run in the source folder. `stator-litmus NAME..` prints what single files show.
#include "tests/unit/simulator/Litmus.h"

#include <cstdio>

using namespace stator::sim::test;

namespace {

Verdict judge(const std::string &name) {
  try {
    return judgeLitmus(readLitmus(std::string(kLitmusFolder) + "/" + name + ".ptx"));
  } catch (const std::exception &e) {
    Verdict verdict;
    verdict.wrong = e.what();
    return verdict;
  }
}

} // namespace

int main(int argc, char **argv) {
  int failures = 0;
  for (int i = 1; i < argc; ++i) {
    Verdict v = judge(argv[i]);
    std::printf("%s: %s\n%s", argv[i], v.places.empty() ? "clean" : v.places.c_str(), v.wrong.c_str());
    failures += !v.wrong.empty();
  }
  if (argc > 1) return failures ? 1 : 0;
  unsigned right = 0, silent = 0, items = 0, twins = 0;
  for (const LitmusItem &item : litmusTable()) {
    ++items;
    bool itemRight = true;
    for (const std::string &name : item.files) {
      Verdict defect = judge(name), twin = judge(name + "-clean");
      bool clean = twin.wrong.empty() && twin.found.empty();
      std::printf("%2u  %-52s %-28s %s\n", item.number, item.title.c_str(), name.c_str(),
                  defect.wrong.empty() ? "right" : "WRONG");
      std::printf("    %-52s twin %s\n", defect.places.c_str(), clean ? "silent" : "NOT SILENT");
      if (!defect.wrong.empty()) std::printf("%s\n", defect.wrong.c_str());
      if (!clean) std::printf("%s\n", twin.wrong.c_str());
      itemRight &= defect.wrong.empty();
      silent += clean;
      ++twins;
    }
    right += itemRight;
  }
  std::printf("%u of %u items judged right, %u of %u clean twins silent\n", right, items, silent, twins);
  return right == items && silent == twins && items == 40 ? 0 : 1;
}
