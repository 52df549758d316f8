// SPDX-License-Identifier: Apache-2.0
/// @file passage.cpp
/// Formats by name, and the choice of the passage for the type of a file's entries.
#include "passage.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "command.hpp"
#include "modes.hpp"

namespace sporos::tool {
namespace {

struct Name {
  FormatName format;
  std::string_view name;
};
constexpr std::array names = {Name{FormatName::coo, "coo"},         Name{FormatName::csr, "csr"},
                              Name{FormatName::csc, "csc"},         Name{FormatName::dcsr, "dcsr"},
                              Name{FormatName::dcsc, "dcsc"},       Name{FormatName::csf, "csf"},
                              Name{FormatName::bcsr2x2, "bcsr2x2"}, Name{FormatName::bcsr3x3, "bcsr3x3"},
                              Name{FormatName::bcsr4x4, "bcsr4x4"}, Name{FormatName::dense, "dense"}};

bool is_blocked(FormatName format) {
  return format == FormatName::bcsr2x2 || format == FormatName::bcsr3x3 || format == FormatName::bcsr4x4;
}

/// The levels of permuted modes in terms of the original modes: "Dense(d0)" becomes "Dense(d2)".
std::string relabelled(const std::string& levels, const std::vector<int>& mode_order) {
  std::string out;
  for (std::size_t at = 0; at < levels.size(); ++at) {
    out += levels[at];
    if (levels.compare(at, 2, "(d") != 0) continue;
    const auto level = static_cast<std::size_t>(levels[at + 2] - '0');  // orders have one digit
    out += 'd' + std::to_string(mode_order[level]);
    at += 2;
  }
  return out;
}

template <class Value, int Order>
Passage pass(FormatName format, const Entries<Value, Order>& entries, const PassageOptions& options) {
  if constexpr (Order == 2)
    return pass_matrix(format, entries, options);
  else
    return pass_tensor(format, entries, options);
}

}  // namespace

std::string_view to_string(FormatName format) {
  for (const auto& [known, name] : names)
    if (known == format) return name;
  return "unknown";
}

std::optional<FormatName> format_named(std::string_view name) {
  if (name == "bcsr" || name == "bsr") return FormatName::bcsr2x2;
  for (const auto& known : names)
    if (known.name == name) return known.format;
  return std::nullopt;
}

std::string format_names() {
  std::string out;
  for (const auto& known : names) out += (out.empty() ? "" : ", ") + std::string(known.name);
  return out;
}

bool holds_order(FormatName format, int order) {
  return order == 2 || format == FormatName::coo || format == FormatName::csf || format == FormatName::dense;
}

bool holds_extents(FormatName format, const std::vector<std::int64_t>& extents) {
  return !is_blocked(format) || std::all_of(extents.begin(), extents.end(), [](std::int64_t extent) {
    return extent <= std::numeric_limits<std::int32_t>::max();
  });
}

bool pads_with_zeros(FormatName format) { return is_blocked(format) || format == FormatName::dense; }

double bytes_of_full_levels(FormatName format, const std::vector<std::int64_t>& extents) {
  const auto positions = [&](std::size_t mode, double block) {
    return static_cast<double>(extents[mode]) / block * static_cast<double>(sizeof(std::int64_t));
  };
  switch (format) {
    case FormatName::csr:
      return positions(0, 1);
    case FormatName::csc:
      return positions(1, 1);
    case FormatName::bcsr2x2:
      return positions(0, 2);
    case FormatName::bcsr3x3:
      return positions(0, 3);
    case FormatName::bcsr4x4:
      return positions(0, 4);
    case FormatName::dense: {
      double bytes = sizeof(double);
      for (const std::int64_t extent : extents) bytes *= static_cast<double>(extent);
      return bytes;
    }
    default:
      return 0;
  }
}

Passage pass_through(FormatName format, const AnyEntries& any, const PassageOptions& options) {
  return std::visit(
      [&]<class Value, int Order>(const Entries<Value, Order>& entries) {
        if (options.mode_order.empty()) return pass(format, entries, options);
        expect_permutation(options.mode_order, Order);
        Passage out = pass(format, permuted(entries, options.mode_order), options);
        out.levels = relabelled(out.levels, options.mode_order);
        if (options.take_out)
          out.entries = permuted(std::get<Entries<Value, Order>>(out.entries), inverse(options.mode_order));
        return out;
      },
      any);
}

}  // namespace sporos::tool
