// SPDX-License-Identifier: Apache-2.0
/// @file als.hpp
/// The CP decomposition of a distributed tensor by alternating least squares, as in examples/cp_als.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <sporos/distributed/distributed.hpp>
#include <vector>

#include "../cp_als/cp_als.hpp"

namespace cp {

struct Fit {
  double fit = 0;  ///< 1 - |X - M| / |X|, where M is the decomposition
  int iterations = 0;
};

/// Decomposes X as als of one process does: the tensor stays where it is, rows of the factors travel.
inline Fit als(const sporos::Distributed<sporos::Tensor<double, sporos::CSF<3>>>& X, const Options& options) {
  using namespace sporos::indices;
  using Rows = sporos::Distributed<Matrix>;
  using Vector = sporos::Tensor<double, sporos::DenseVector>;  // on every rank, as are all that follow
  using Number = sporos::Tensor<double, sporos::Scalar>;
  const std::int64_t rank = options.rank;
  std::vector<Rows> F, M;  // the factors, and the MTTKRP of each mode
  std::vector<Matrix> G;
  std::mt19937_64 bits(options.seed);
  for (int mode = 0; mode < 3; ++mode) {
    const auto whole = random_matrix(X.extent(mode), options.rank, bits);
    F.push_back(scatter(sporos::Distribution<2>::blocks(X.ranks(), whole.extents()), whole));
    M.emplace_back(F.back().distribution());
    G.emplace_back(sporos::Extents<2>{rank, rank});
    G.back()(r, s) = F.back()(i, r) * F.back()(i, s);
  }
  auto first = plan(assign(M[0](i, r), X(i, j, k) * F[1](j, r) * F[2](k, r)));
  auto second = plan(assign(M[1](j, r), X(i, j, k) * F[0](i, r) * F[2](k, r)));
  auto third = plan(assign(M[2](k, r), X(i, j, k) * F[0](i, r) * F[1](j, r)));

  const Vector length({rank}), inverse({rank});
  const Number norm, inner, square;
  norm() = X(i, j, k) * X(i, j, k);
  const auto number = [](const Number& of) { return of.values()(0); };
  Fit out;
  for (double last = -1; out.iterations < options.iterations; last = out.fit) {
    ++out.iterations;
    for (int mode = 0; mode < 3; ++mode) {
      const auto m = static_cast<std::size_t>(mode);
      mode == 0 ? first.run() : mode == 1 ? second.run() : third.run();
      solve(F[m], M[m], hadamard(G, mode));  // each rank for its own rows
      G[m](r, s) = F[m](i, r) * F[m](i, s);
      for (std::int64_t c = 0; c < rank; ++c) {
        length.values()(c) = std::sqrt(sporos::at(G[m], {c, c}));
        inverse.values()(c) = length.values()(c) > 0 ? 1 / length.values()(c) : 1;
      }
      F[m](i, r) = F[m](i, r) * inverse(r);
      G[m](r, s) = G[m](r, s) * inverse(r) * inverse(s);
    }
    // |X - M|^2 = |X|^2 + |M|^2 - 2 <X, M>
    inner() = M[2](k, r) * F[2](k, r) * length(r);
    square() = G[0](r, s) * G[1](r, s) * G[2](r, s) * length(r) * length(s);
    const double distance = std::max(number(norm) + number(square) - 2 * number(inner), 0.0);
    out.fit = 1 - std::sqrt(distance / number(norm));
    if (std::abs(out.fit - last) < options.tolerance) break;
  }
  return out;
}

}  // namespace cp
