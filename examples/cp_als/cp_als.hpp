// SPDX-License-Identifier: Apache-2.0
/// @file cp_als.hpp
/// The CP decomposition of a sparse tensor by alternating least squares:
///
///     X(i, j, k)  ~  M(i, j, k) = sum over r of lambda(r) A(i, r) B(j, r) C(k, r)
///
/// T. Kolda, B. Bader, "Tensor Decompositions and Applications", SIAM Review 51 (2009), section 3.4.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <sporos/sporos.hpp>
#include <utility>
#include <vector>

namespace cp {

using Matrix = sporos::Tensor<double, sporos::DenseMatrix<>>;

struct Options {
  int rank = 16;
  int iterations = 50;      ///< the most iterations
  double tolerance = 1e-5;  ///< stop when the fit changes by less
  unsigned seed = 1;        ///< seed of the random initial factors
};

/// The decomposition: factor m has a row for each coordinate of mode m, and columns of length 1.
struct Model {
  std::vector<double> lambda;
  std::vector<Matrix> factors;
  std::vector<double> fits;  ///< 1 - |X - M| / |X| after each iteration: 1 if M is X
  bool converged = false;
};

/// Values in [0, 1), the same on every machine.
inline Matrix random_matrix(std::int64_t rows, int rank, std::mt19937_64& bits) {
  Matrix A({rows, std::int64_t{rank}});
  for (std::int64_t at = 0; at < A.nnz(); ++at) A.values()(at) = static_cast<double>(bits() >> 11) * 0x1p-53;
  return A;
}

/// A(i, r) = X(i, j, k, …) * B(j, r) * C(k, r) * …: the matricised tensor times a Khatri-Rao product.
template <class Tensor>
void mttkrp(const Matrix& A, const Tensor& X, const std::vector<Matrix>& others) {
  using namespace sporos::indices;
  const auto& F = others;
  if constexpr (Tensor::order == 3)
    A(i, r) = X(i, j, k) * F[0](j, r) * F[1](k, r);
  else if constexpr (Tensor::order == 4)
    A(i, r) = X(i, j, k, l) * F[0](j, r) * F[1](k, r) * F[2](l, r);
  else
    A(i, r) = X(i, j, k, l, m) * F[0](j, r) * F[1](k, r) * F[2](l, r) * F[3](m, r);
}

/// G(r, s) = sum over i of A(i, r) A(i, s).
inline void gram(const Matrix& G, const Matrix& A) {
  using namespace sporos::indices;
  G(r, s) = A(i, r) * A(i, s);
}

/// V(r, s) = the product of the Gram matrices of all modes except `skipped`; -1 skips none.
inline std::vector<double> hadamard(const std::vector<Matrix>& grams, int skipped = -1) {
  std::vector<double> V(static_cast<std::size_t>(grams[0].nnz()), 1.0);
  for (int mode = 0; mode < std::ssize(grams); ++mode)
    for (std::size_t at = 0; mode != skipped && at < V.size(); ++at)
      V[at] *= grams[static_cast<std::size_t>(mode)].values()(at);
  return V;
}

/// The inverse of V, a product of Gram matrices, by the Cholesky factorisation V = L L^T. If a column of V
/// depends on earlier ones, that row and column of the inverse are 0.
inline Matrix inverse(std::vector<double> V) {
  const auto rank = static_cast<std::size_t>(std::llround(std::sqrt(static_cast<double>(V.size()))));
  const auto L = [&](std::size_t r, std::size_t s) -> double& { return V[r * rank + s]; };
  const double rounding = static_cast<double>(rank) * std::numeric_limits<double>::epsilon();
  for (std::size_t s = 0; s < rank; ++s) {
    const double diagonal = L(s, s);
    for (std::size_t t = 0; t < s; ++t) L(s, s) -= L(s, t) * L(s, t);
    const bool depends = !(L(s, s) > rounding * diagonal);
    L(s, s) = depends ? 0 : std::sqrt(L(s, s));
    for (std::size_t r = s + 1; r < rank; ++r) {
      for (std::size_t t = 0; t < s; ++t) L(r, s) -= L(r, t) * L(s, t);
      L(r, s) = depends ? 0 : L(r, s) / L(s, s);
    }
  }
  const auto extent = static_cast<std::int64_t>(rank);
  Matrix out({extent, extent});
  for (std::size_t row = 0; row < rank; ++row) {
    double* const x = out.values().data() + row * rank;
    for (std::size_t r = 0; r < rank; ++r) {
      x[r] = r == row ? 1 : 0;
      for (std::size_t s = 0; s < r; ++s) x[r] -= L(r, s) * x[s];
      x[r] = L(r, r) > 0 ? x[r] / L(r, r) : 0;
    }
    for (std::size_t r = rank; r-- > 0;) {
      for (std::size_t s = r + 1; s < rank; ++s) x[r] -= L(s, r) * x[s];
      x[r] = L(r, r) > 0 ? x[r] / L(r, r) : 0;
    }
  }
  return out;
}

/// Solves A V = B, the normal equations of one mode's least squares problem. Columns of A that V does not
/// determine become 0.
/// @tparam Rows  Matrix, or matrices distributed by rows
template <class Rows>
void solve(const Rows& A, const Rows& B, const std::vector<double>& V) {
  using namespace sporos::indices;
  const Matrix P = inverse(V);
  A(i, s) = B(i, r) * P(r, s);
}

/// Divides each column by its length; returns the lengths.
inline std::vector<double> normalise(const Matrix& A) {
  const auto rank = static_cast<std::size_t>(A.extent(1));
  const auto rows = static_cast<std::size_t>(A.extent(0));
  std::vector<double> lengths(rank);
  for (std::size_t r = 0; r < rank; ++r) {
    double squares = 0;
    for (std::size_t i = 0; i < rows; ++i) squares += A.values()(i * rank + r) * A.values()(i * rank + r);
    lengths[r] = std::sqrt(squares);
    for (std::size_t i = 0; lengths[r] > 0 && i < rows; ++i) A.values()(i * rank + r) /= lengths[r];
  }
  return lengths;
}

/// 1 - |X - M| / |X|. No pass over the tensor is needed, since |X - M|^2 = |X|^2 + |M|^2 - 2 <X, M>, where
/// |M|^2 follows from the Gram matrices and <X, M> from the last MTTKRP. Half of the digits cancel, so a fit
/// of 1 is accurate to 1e-8.
inline double fit(double norm, const Model& model, const std::vector<Matrix>& grams, const Matrix& mttkrp) {
  const std::vector<double>& lambda = model.lambda;
  const std::vector<double> V = hadamard(grams);
  const Matrix& last = model.factors.back();
  const std::size_t rank = lambda.size();
  double square = norm * norm;
  for (std::size_t at = 0; at < V.size(); ++at) square += lambda[at / rank] * V[at] * lambda[at % rank];
  for (std::int64_t at = 0; at < last.nnz(); ++at)
    square -= 2 * lambda[static_cast<std::size_t>(at) % rank] * last.values()(at) * mttkrp.values()(at);
  return norm > 0 ? 1 - std::sqrt(std::max(square, 0.0)) / norm : 1;
}

/// The same tensor with its first mode moved to the end.
template <class Tensor>
Tensor turned(const Tensor& X) {
  if constexpr (Tensor::order == 3)
    return sporos::permute<1, 2, 0>(X);
  else if constexpr (Tensor::order == 4)
    return sporos::permute<1, 2, 3, 0>(X);
  else
    return sporos::permute<1, 2, 3, 4, 0>(X);
}

/// Decomposes a tensor of order 3 to 5. The factor of each mode is computed in turn with all others fixed, so
/// the error never grows. Keeps a copy of the tensor for each mode, with that mode first, so that each MTTKRP
/// writes its rows in order.
/// @throws ShapeError for a rank or a number of iterations below 1
/// @param after  called after each iteration with its number and the fit
template <class Tensor>
Model als(const Tensor& X, const Options& options, const std::function<void(int, double)>& after = {}) {
  constexpr int Order = Tensor::order;
  static_assert(Order >= 3 && Order <= 5, "cp::als takes a tensor of order 3 to 5");
  if (options.rank < 1 || options.iterations < 1)
    throw sporos::ShapeError(sporos::text("cp::als is asked for rank ", options.rank, " in ",
                                          options.iterations, " iterations, expected at least 1 of each"));
  std::vector views = {X};  // views[m] has the modes in the order m, m + 1, …, 0, …
  while (std::ssize(views) < Order) views.push_back(turned(views.back()));
  double norm = 0;
  for (std::int64_t at = 0; at < X.nnz(); ++at) norm += X.values()(at) * X.values()(at);
  norm = std::sqrt(norm);

  Model model;
  std::vector<Matrix> products, grams;
  std::mt19937_64 bits(options.seed);
  for (int mode = 0; mode < Order; ++mode) {
    model.factors.push_back(random_matrix(X.extent(mode), options.rank, bits));
    products.emplace_back(model.factors.back().extents());
    grams.emplace_back(sporos::Extents<2>{options.rank, options.rank});
    gram(grams.back(), model.factors.back());
  }

  for (int iteration = 1; iteration <= options.iterations && !model.converged; ++iteration) {
    for (int mode = 0; mode < Order; ++mode) {
      const auto at = static_cast<std::size_t>(mode);
      std::vector<Matrix> others;
      for (int step = 1; step < Order; ++step)
        others.push_back(model.factors[static_cast<std::size_t>((mode + step) % Order)]);
      mttkrp(products[at], views[at], others);
      solve(model.factors[at], products[at], hadamard(grams, mode));
      model.lambda = normalise(model.factors[at]);
      gram(grams[at], model.factors[at]);
    }
    model.fits.push_back(fit(norm, model, grams, products.back()));
    if (after) after(iteration, model.fits.back());
    model.converged = iteration > 1 && std::abs(model.fits.back() - model.fits.end()[-2]) < options.tolerance;
  }
  return model;
}

}  // namespace cp
