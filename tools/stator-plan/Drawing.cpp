// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator-plan/Drawing.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace stator::memory {
namespace {

constexpr double kLeft = 96, kTop = 56, kRight = 24, kBottom = 56, kHeight = 760;

std::string format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char *pattern, ...) {
  char text[512];
  va_list args;
  va_start(args, pattern);
  std::vsnprintf(text, sizeof text, pattern, args);
  va_end(args);
  return text;
}

std::string escape(const std::string &text) {
  std::string out;
  for (char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return out;
}

/// The end of \p most in steps that read well: 1, 2 or 5 times a power of two or ten.
double niceStep(double most, int steps, double base) {
  double power = std::pow(base, std::floor(std::log(std::max(most / steps, 1.0)) / std::log(base)));
  for (double factor : {1.0, 2.0, 4.0, 5.0, 8.0})
    if (most / (power * factor) <= steps) return power * factor;
  return power * base;
}

class Canvas {
public:
  Canvas(const Instance &instance, const Plan &plan) : instance(instance), plan(plan) {
    for (const Buffer &b : instance.problem.buffers) {
      times.push_back(b.lower);
      times.push_back(b.upper);
    }
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    width = std::clamp(static_cast<double>(times.size()) * 14, 720.0, 2400.0);
    const int64_t capacity = instance.problem.arenas[0].capacity;
    most = static_cast<double>(std::max({plan.arenas[0].bytes, capacity, int64_t(1)}));
  }

  double x(int64_t time) const {
    double index = static_cast<double>(std::lower_bound(times.begin(), times.end(), time) - times.begin());
    return kLeft + width * index / std::max(1.0, static_cast<double>(times.size()) - 1);
  }
  double y(double address) const { return kTop + kHeight * (1 - address / most); }

  void axes() {
    const double step = niceStep(most, 10, 2);
    for (double at = 0; at <= most; at += step) {
      text +=
          format("<line class='grid' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>", kLeft, y(at), kLeft + width, y(at));
      text += format("<text class='tick' x='%.1f' y='%.1f' text-anchor='end'>%s</text>\n", kLeft - 8, y(at) + 4,
                     humanBytes(static_cast<int64_t>(at)).c_str());
    }
    // Times are labelled where there is room for their digits.
    double free = 0;
    for (int64_t time : times) {
      std::string label = std::to_string(time);
      double half = 3.6 * static_cast<double>(label.size());
      if (x(time) - half < free) continue;
      free = x(time) + half + 14;
      text += format("<line class='mark' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>", x(time), kTop + kHeight, x(time),
                     kTop + kHeight + 5);
      text += format("<text class='tick' x='%.1f' y='%.1f' text-anchor='middle'>%s</text>\n", x(time),
                     kTop + kHeight + 19, label.c_str());
    }
    text += format("<text class='tick' x='%.1f' y='%.1f' text-anchor='middle'>time</text>\n", kLeft + width / 2,
                   kTop + kHeight + 42);
  }

  void box(size_t u) {
    const Buffer &b = instance.problem.buffers[u];
    const int64_t bytes = mostBytes(instance.problem, b);
    const double left = x(b.lower), w = x(b.upper) - left;
    const double low = static_cast<double>(plan.offsets[u]), h = kHeight * static_cast<double>(bytes) / most;
    const double up = y(low + static_cast<double>(bytes));
    // Neighbouring numbers get hues far apart: steps of the golden angle.
    const double hue = std::fmod(static_cast<double>(u) * 137.508, 360);
    text += format("<g><rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='hsl(%.0f,58%%,%d%%)'/>", left, up, w, h,
                   hue, b.fixedOffset != kNone ? 62 : 80);
    text += "<title>" + escape(instance.ids[u]) + ": " + std::to_string(bytes) + " bytes at " +
            std::to_string(plan.offsets[u]) + ", live [" + std::to_string(b.lower) + ", " + std::to_string(b.upper) +
            ")</title>";
    // Name and size on one line or two if they fit, the name alone if that fits.
    const std::string size = humanBytes(bytes), both = instance.ids[u] + ": " + size;
    const double cx = left + w / 2, cy = up + h / 2;
    auto fits = [&](const std::string &line, double font, int lines) {
      return 0.62 * font * static_cast<double>(line.size()) + 4 <= w && font * 1.25 * lines <= h;
    };
    auto label = [&](const std::string &line, double font, double dy) {
      text += format("<text x='%.1f' y='%.1f' font-size='%.0f'>", cx, cy + dy + font * 0.35, font) + escape(line) +
              "</text>";
    };
    for (double font : {14.0, 12.0, 10.0, 9.0}) {
      if (fits(both, font, 1)) {
        label(both, font, 0);
      } else if (fits(std::max(instance.ids[u], size, [](auto &a, auto &c) { return a.size() < c.size(); }), font, 2)) {
        label(instance.ids[u], font, -font * 0.6);
        label(size, font, font * 0.6);
      } else if (font <= 10 && fits(instance.ids[u], font, 1)) {
        label(instance.ids[u], font, 0);
      } else {
        continue;
      }
      break;
    }
    text += "</g>\n";
  }

  /// A line across at \p bytes, named above it at the left or right end.
  void level(int64_t bytes, const char *style, const std::string &label, bool left) {
    const double at = y(static_cast<double>(bytes));
    text += format("<line class='%s' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>", style, kLeft, at, kLeft + width, at);
    text += format("<text class='%s' x='%.1f' y='%.1f' text-anchor='%s'>", style, left ? kLeft : kLeft + width, at - 5,
                   left ? "start" : "end") +
            label + "</text>\n";
  }

  std::string finish(const std::string &title) {
    std::string head =
        format("<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' viewBox='0 0 %.0f %.0f' "
               "font-family='Helvetica, Arial, sans-serif'>\n",
               kLeft + width + kRight, kTop + kHeight + kBottom, kLeft + width + kRight, kTop + kHeight + kBottom);
    head += "<style>rect{stroke:#444;stroke-width:.6}g text{text-anchor:middle;fill:#111}.grid{stroke:#ddd}"
            ".mark{stroke:#666}.tick{font-size:12px;fill:#444}line.bound{stroke:#06c;stroke-dasharray:6 4}"
            "line.capacity{stroke:#c00;stroke-width:1.5}text.bound{fill:#06c;font-size:12px}"
            "text.capacity{fill:#c00;font-size:12px}</style>\n<rect width='100%' height='100%' fill='#fff' "
            "style='stroke:none'/>\n";
    head += format("<text x='%.0f' y='24' font-size='16' fill='#111'>", kLeft) + escape(title) + "</text>\n";
    return head + text + "</svg>\n";
  }

private:
  const Instance &instance;
  const Plan &plan;
  std::vector<int64_t> times;
  double width = 0, most = 1;
  std::string text;
};

} // namespace

std::string humanBytes(int64_t bytes) {
  static constexpr const char *kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 5; ++unit) value /= 1024;
  std::string text = value == std::floor(value) || value >= 100 ? format("%.0f", value)
                     : value >= 10                              ? format("%.1f", value)
                                                                : format("%.2f", value);
  return text + " " + kUnits[unit];
}

std::string drawPlan(const Instance &instance, const Plan &plan, const std::string &title) {
  Canvas canvas(instance, plan);
  canvas.axes();
  for (size_t u = 0; u < instance.ids.size(); ++u)
    if (mostBytes(instance.problem, instance.problem.buffers[u]) > 0) canvas.box(u);
  const ArenaPlan &arena = plan.arenas[0];
  canvas.level(arena.bound, "bound", "bound " + humanBytes(arena.bound), true);
  if (int64_t capacity = instance.problem.arenas[0].capacity; capacity != kNone)
    canvas.level(capacity, "capacity", "capacity " + humanBytes(capacity), false);
  return canvas.finish(title);
}

} // namespace stator::memory
