// SPDX-License-Identifier: Apache-2.0
/// @file mttkrp_run.hpp
/// M(i, r) = T(i, k, l, …) * C(k, r) * D(l, r) * …: the matricised tensor times the Khatri-Rao product of
/// factor matrices.
///
/// B. Bader, T. Kolda, "Efficient MATLAB computations with sparse and factored tensors", SIAM J. Sci. Comput.
/// 30 (2007).
#pragma once

#include <cstdint>

#include <vector>

#include "comparison.hpp"
#include "input.hpp"
#include "stored.hpp"
#include "timing.hpp"

namespace sporos::tool {

/// Factor matrices stored by rows: factors[m][i * rank + r].
using Factors = std::vector<std::vector<double>>;

struct MttkrpRun {
  Entries<double, 2> result;  ///< all values of M, row by row
  Stored tensor;
  Times times;
};

/// Runs the statement `repeats` times on the tensor stored as CSF.
/// @param entries  must be merged, with the mode of the result first
/// @param factors  one for each of the other modes, in order
template <int Order>
MttkrpRun run_mttkrp(const Entries<double, Order>& entries, const Factors& factors, int rank, int repeats);
extern template MttkrpRun run_mttkrp(const Entries<double, 2>&, const Factors&, int, int);
extern template MttkrpRun run_mttkrp(const Entries<double, 3>&, const Factors&, int, int);
extern template MttkrpRun run_mttkrp(const Entries<double, 4>&, const Factors&, int, int);
extern template MttkrpRun run_mttkrp(const Entries<double, 5>&, const Factors&, int, int);
extern template MttkrpRun run_mttkrp(const Entries<double, 6>&, const Factors&, int, int);

/// Compares M with sums formed in long double, entry by entry of the tensor. The error bound of a value that
/// is the sum of n products of f factors is (n + f) u / (1 - (n + f) u) times the sum of the products'
/// moduli, where u is the unit roundoff of double.
template <int Order>
Comparison compare_mttkrp(const Entries<double, Order>& entries, const Factors& factors, int rank,
                          const Entries<double, 2>& result);
extern template Comparison compare_mttkrp(const Entries<double, 2>&, const Factors&, int,
                                          const Entries<double, 2>&);
extern template Comparison compare_mttkrp(const Entries<double, 3>&, const Factors&, int,
                                          const Entries<double, 2>&);
extern template Comparison compare_mttkrp(const Entries<double, 4>&, const Factors&, int,
                                          const Entries<double, 2>&);
extern template Comparison compare_mttkrp(const Entries<double, 5>&, const Factors&, int,
                                          const Entries<double, 2>&);
extern template Comparison compare_mttkrp(const Entries<double, 6>&, const Factors&, int,
                                          const Entries<double, 2>&);

}  // namespace sporos::tool
