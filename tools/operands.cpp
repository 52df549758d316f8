// SPDX-License-Identifier: Apache-2.0
/// @file operands.cpp
/// Converts values, checking each one.
#include "operands.hpp"

#include <cmath>
#include <limits>
#include <sporos/formats/value_cast.hpp>

#include "command.hpp"
#include "statistics.hpp"

namespace sporos::tool {
namespace {

/// Doubles represent all integers up to this one exactly.
constexpr std::int64_t largest_whole = std::int64_t{1} << 53;

template <class To, class Value>
Entries<To, 2> with_values(const Entries<Value, 2>& entries, const std::string& path) {
  Entries<To, 2> out(entries.extents, 0);
  out.coordinates = entries.coordinates;
  out.values = make_array<To>("sporos::operand", entries.size());
  for (std::size_t q = 0; q < out.values.extent(0); ++q) {
    const Value value = entries.values(q);
    bool held = value_cast(value, out.values(q));
    if constexpr (std::is_same_v<Value, std::int64_t>)
      held = held && value >= -largest_whole && value <= largest_whole;
    if (!held)
      throw UsageError(text(path, ": the value ", value_text(value),
                            is_complex_v<Value> ? " is complex, expected real values"
                                                : " is too large to be multiplied exactly as a double"));
  }
  return out;
}

}  // namespace

template <class To>
Entries<To, 2> operand_of(const Input& input) {
  return std::visit(
      [&]<class Value, int Order>(const Entries<Value, Order>& entries) -> Entries<To, 2> {
        if constexpr (Order == 2)
          return with_values<To>(entries, input.path);
        else
          throw InternalError("a matrix has two modes");
      },
      merged(input.entries, input.duplicates(), false));
}

template Entries<double, 2> operand_of(const Input&);
template Entries<Complex, 2> operand_of(const Input&);

void expect_narrow(const Input& input, std::string_view command) {
  for (const std::int64_t extent : input.extents())
    if (extent > std::numeric_limits<std::int32_t>::max())
      throw UsageError(text(input.path, ": the extent ", extent, " is too large for ", command,
                            ", which takes up to ", std::numeric_limits<std::int32_t>::max(),
                            " rows and columns"));
}

void expect_real(const Input& input, std::string_view command) {
  if (input.field() == "complex")
    throw UsageError(text(input.path, ": ", command, " takes real values, these are complex"));
}

}  // namespace sporos::tool
