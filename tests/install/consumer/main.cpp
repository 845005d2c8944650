// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <stator/runtime.hpp>

#include <cstdio>

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  try {
    stator::Model model(argv[1]);
    stator::Session session(model);
    std::vector<float> x = {1, 2, 3, 4};
    std::vector<stator::Tensor> y = session.run({stator::view(x, {1, 4})});
    const float *values = y.at(0).elements<float>();
    std::printf("%g %g %g %g\n", values[0], values[1], values[2], values[3]);
    bool refused = false;
    try {
      session.run({stator::view(x, {2, 2})});
    } catch (const stator::Error &error) {
      refused = error.status() == STATOR_MISMATCH;
    }
    // (x + w) * 3 with w = 10, 20, 30, 40.
    return values[0] == 33 && values[3] == 132 && y[0].count() == 4 && refused ? 0 : 1;
  } catch (const stator::Error &error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
