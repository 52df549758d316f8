// SPDX-License-Identifier: Apache-2.0
/// @file operands.hpp
/// Matrices from files as operands of statements.
#pragma once

#include <string_view>

#include "input.hpp"

namespace sporos::tool {

/// The entries of a matrix, sorted and merged, with values of type To: double, or Complex.
/// @throws UsageError for an integer that To cannot represent exactly, and for complex values if To is double
template <class To>
Entries<To, 2> operand_of(const Input& input);
extern template Entries<double, 2> operand_of(const Input&);
extern template Entries<Complex, 2> operand_of(const Input&);

/// Rejects matrices whose extents do not fit in 32 bits.
/// @param command  the command that cannot take larger ones, for messages
void expect_narrow(const Input& input, std::string_view command);

/// Rejects matrices of complex values.
void expect_real(const Input& input, std::string_view command);

}  // namespace sporos::tool
