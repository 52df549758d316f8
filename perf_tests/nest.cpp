// SPDX-License-Identifier: Apache-2.0
/// @file nest.cpp
/// The loop nest that the compiler makes of a statement, compared with the same algorithm written by hand.
///
///     perf_nest --clock processor --rounds 31 --json nest.json
///
/// Runs on one thread. The loops written by hand read the tensors' own arrays and write into arrays that were
/// allocated before the clock starts, large enough for the result, so that memory costs them nothing.
/// Therefore both are measured with retained memory only. Results are compared at the end of each case.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <sporos/sporos.hpp>
#include <string>
#include <vector>

#include "harness.hpp"

namespace sporos::perf {
namespace {

using namespace sporos::indices;

using Csr = Tensor<double, CSR<>>;
using Csf = Tensor<double, CSF<3>>;
using Matrix = Tensor<double, DenseMatrix<>>;
using Vector = Tensor<double, DenseVector>;

/// A tensor with about `count` nonzeros at random coordinates.
template <class F>
Tensor<double, F> random_tensor(const Extents<F::order>& extents, std::int64_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  Entries<double, F::order> entries(extents, count);
  for (std::int64_t q = 0; q < count; ++q) {
    Extents<F::order> at{};
    for (std::size_t mode = 0; mode < at.size(); ++mode)
      at[mode] = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extents[mode]));
    entries.set(q, at, value(random));
  }
  return assemble<F>(entries);
}

template <class F, std::size_t Order>
Tensor<double, F> random_dense(const std::array<std::int64_t, Order>& extents, unsigned seed) {
  Tensor<double, F> out(extents);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  for (std::int64_t q = 0; q < out.nnz(); ++q) out.values()(q) = value(random);
  return out;
}

/// A CSR matrix as the loops written by hand see it.
struct Rows {
  explicit Rows(const Csr& matrix)
      : rows(matrix.extent(0)),
        positions(matrix.level<1>().positions.data()),
        columns(matrix.level<1>().coordinates.data()),
        values(matrix.values().data()) {}

  std::int64_t rows;
  const std::int64_t* positions;
  const std::int32_t* columns;
  const double* values;
};

/// A sparse result of the loops written by hand, in arrays that are large enough for it.
struct RowsMade {
  RowsMade(std::int64_t rows, std::int64_t capacity)
      : positions(static_cast<std::size_t>(rows + 1)),
        columns(static_cast<std::size_t>(capacity)),
        values(static_cast<std::size_t>(capacity)) {}

  std::vector<std::int64_t> positions;
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};

// ---- The loops written by hand. Each is a separate function, as it would be in a library, so that it does
// not learn the extents from its only caller.

#if defined(__GNUC__) && !defined(__clang__)
#define BY_HAND [[gnu::noipa]] void
#else
#define BY_HAND [[gnu::noinline]] void
#endif

BY_HAND spmv_by_hand(const Rows& a, const double* x, double* y) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    double sum = 0;
    for (std::int64_t q = a.positions[row]; q < a.positions[row + 1]; ++q)
      sum += a.values[q] * x[a.columns[q]];
    y[row] = sum;
  }
}

BY_HAND spmm_by_hand(const Rows& a, const double* b, std::int64_t width, double* c) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    double* __restrict out = c + row * width;
    std::fill(out, out + width, 0.0);
    for (std::int64_t q = a.positions[row]; q < a.positions[row + 1]; ++q) {
      const double value = a.values[q];
      const double* __restrict in = b + a.columns[q] * width;
      for (std::int64_t at = 0; at < width; ++at) out[at] += value * in[at];
    }
  }
}

BY_HAND spgemm_by_hand(const Rows& a, const Rows& b, std::int64_t columns, RowsMade& c) {
  std::vector<double> sums(static_cast<std::size_t>(columns));
  std::vector<char> written(static_cast<std::size_t>(columns));
  std::vector<std::int32_t> list(static_cast<std::size_t>(columns));
  std::int64_t size = 0;
  c.positions[0] = 0;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    std::int64_t count = 0;
    for (std::int64_t q = a.positions[row]; q < a.positions[row + 1]; ++q) {
      const double value = a.values[q];
      const std::int64_t inner = a.columns[q];
      for (std::int64_t p = b.positions[inner]; p < b.positions[inner + 1]; ++p) {
        const auto column = static_cast<std::size_t>(b.columns[p]);
        if (!written[column]) {
          written[column] = 1;
          list[static_cast<std::size_t>(count++)] = b.columns[p];
        }
        sums[column] += value * b.values[p];
      }
    }
    std::sort(list.begin(), list.begin() + count);
    for (std::int64_t at = 0; at < count; ++at) {
      const auto column = static_cast<std::size_t>(list[static_cast<std::size_t>(at)]);
      c.columns[static_cast<std::size_t>(size)] = static_cast<std::int32_t>(column);
      c.values[static_cast<std::size_t>(size++)] = sums[column];
      sums[column] = 0;
      written[column] = 0;
    }
    c.positions[static_cast<std::size_t>(row + 1)] = size;
  }
}

BY_HAND mttkrp_by_hand(const Csf& t, const double* u, const double* v, std::int64_t rank, std::int64_t rows,
                       double* m) {
  const auto& [top, middle, last] = t.levels();
  const double* values = t.values().data();
  const std::int64_t* middle_positions = middle.positions.data();
  const std::int64_t* last_positions = last.positions.data();
  const std::int32_t* last_coordinates = last.coordinates.data();
  std::fill(m, m + rows * rank, 0.0);
  for (std::int64_t a = top.positions(0); a < top.positions(1); ++a) {
    double* __restrict out = m + top.coordinates.data()[a] * rank;
    for (std::int64_t b = middle_positions[a]; b < middle_positions[a + 1]; ++b) {
      const double* __restrict left = u + middle.coordinates.data()[b] * rank;
      for (std::int64_t q = last_positions[b]; q < last_positions[b + 1]; ++q) {
        const double value = values[q];
        const double* __restrict right = v + last_coordinates[q] * rank;
        for (std::int64_t at = 0; at < rank; ++at) out[at] += value * left[at] * right[at];
      }
    }
  }
}

BY_HAND sddmm_by_hand(const Rows& s, const double* c, const double* d, std::int64_t inner, RowsMade& a) {
  std::copy(s.positions, s.positions + s.rows + 1, a.positions.begin());
  std::copy(s.columns, s.columns + s.positions[s.rows], a.columns.begin());
  double* __restrict out = a.values.data();
  for (std::int64_t row = 0; row < s.rows; ++row) {
    const double* left = c + row * inner;
    for (std::int64_t q = s.positions[row]; q < s.positions[row + 1]; ++q) {
      const double* right = d + s.columns[q] * inner;
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::int64_t at = 0; at < inner; ++at) sum += left[at] * right[at];
      out[q] = s.values[q] * sum;
    }
  }
}

BY_HAND union_by_hand(const Rows& a, const Rows& b, RowsMade& c) {
  std::int64_t* positions = c.positions.data();
  std::int32_t* columns = c.columns.data();
  double* values = c.values.data();
  std::int64_t size = 0;
  positions[0] = 0;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    std::int64_t p = a.positions[row], q = b.positions[row];
    const std::int64_t p_end = a.positions[row + 1], q_end = b.positions[row + 1];
    while (p < p_end && q < q_end) {
      const std::int32_t x = a.columns[p], y = b.columns[q];
      if (x == y) {
        columns[size] = x;
        values[size++] = a.values[p++] + b.values[q++];
      } else if (x < y) {
        columns[size] = x;
        values[size++] = a.values[p++];
      } else {
        columns[size] = y;
        values[size++] = b.values[q++];
      }
    }
    for (; p < p_end; ++p) {
      columns[size] = a.columns[p];
      values[size++] = a.values[p];
    }
    for (; q < q_end; ++q) {
      columns[size] = b.columns[q];
      values[size++] = b.values[q];
    }
    positions[row + 1] = size;
  }
}

// ---- Comparison of the results.

bool same_values(const double* x, const double* y, std::int64_t count) {
  for (std::int64_t at = 0; at < count; ++at)
    if (!(std::abs(x[at] - y[at]) <= 1e-11 * (1 + std::abs(y[at])))) return false;
  return true;
}

bool same_rows(const Csr& made, const RowsMade& by_hand) {
  const Rows rows(made);
  const std::int64_t size = by_hand.positions.back();
  return made.nnz() == size &&
         std::equal(by_hand.positions.begin(), by_hand.positions.end(), rows.positions) &&
         std::equal(rows.columns, rows.columns + size, by_hand.columns.begin()) &&
         same_values(rows.values, by_hand.values.data(), size);
}

// ---- The statements.

struct Pair {
  std::string name, statement;
  std::function<void()> nest, by_hand;
  std::function<bool()> same;
};

std::vector<Pair> pairs() {
  std::vector<Pair> out;
  const std::int64_t n = 100'000;
  const auto B = random_tensor<CSR<>>({n, n}, 16 * n, 1);
  {
    const auto x = random_dense<DenseVector>(Extents<1>{n}, 2);
    const Vector y({n}), z({n});
    out.push_back({"spmv", "y(i) = B(i, j) * x(j)", [=] { assign(y(i), B(i, j) * x(j)).generic().run(); },
                   [=] { spmv_by_hand(Rows(B), x.values().data(), z.values().data()); },
                   [=] { return same_values(y.values().data(), z.values().data(), n); }});
  }
  for (const std::int64_t width : {32, 128}) {
    const std::int64_t rows = 40'000;
    const auto S = random_tensor<CSR<>>({rows, rows}, 16 * rows, 3);
    const auto C = random_dense<DenseMatrix<>>(Extents<2>{rows, width}, 4);
    const Matrix A({rows, width}), D({rows, width});
    out.push_back({"spmm_" + std::to_string(width), "A(i, j) = B(i, k) * C(k, j)",
                   [=] { assign(A(i, j), S(i, k) * C(k, j)).generic().run(); },
                   [=] { spmm_by_hand(Rows(S), C.values().data(), width, D.values().data()); },
                   [=] { return same_values(A.values().data(), D.values().data(), rows * width); }});
  }
  {
    const std::int64_t rows = 50'000;
    const auto S = random_tensor<CSR<>>({rows, rows}, 8 * rows, 5);
    const Csr A({rows, rows});
    const auto made = std::make_shared<RowsMade>(rows, 64 * rows);
    out.push_back(
        {"spgemm", "A(i, j) = B(i, k) * B(k, j)", [=] { assign(A(i, j), S(i, k) * S(k, j)).generic().run(); },
         [=] { spgemm_by_hand(Rows(S), Rows(S), rows, *made); }, [=] { return same_rows(A, *made); }});
  }
  {
    const std::int64_t rows = 5'000, rank = 32;
    const auto T = random_tensor<CSF<3>>({rows, 500, 20'000}, 1'000'000, 6);
    const auto U = random_dense<DenseMatrix<>>(Extents<2>{500, rank}, 7);
    const auto V = random_dense<DenseMatrix<>>(Extents<2>{20'000, rank}, 8);
    const Matrix M({rows, rank}), N({rows, rank});
    out.push_back(
        {"mttkrp", "M(i, r) = T(i, k, l) * U(k, r) * V(l, r)",
         [=] { assign(M(i, r), T(i, k, l) * U(k, r) * V(l, r)).generic().run(); },
         [=] { mttkrp_by_hand(T, U.values().data(), V.values().data(), rank, rows, N.values().data()); },
         [=] { return same_values(M.values().data(), N.values().data(), rows * rank); }});
  }
  {
    const std::int64_t inner = 32;
    const auto C = random_dense<DenseMatrix<>>(Extents<2>{n, inner}, 9);
    const auto D = random_dense<DenseMatrix<>>(Extents<2>{n, inner}, 10);
    const Csr A({n, n});
    const auto made = std::make_shared<RowsMade>(n, B.nnz());
    out.push_back({"sddmm", "A(i, j) = B(i, j) * C(i, k) * D(j, k)",
                   [=] { assign(A(i, j), B(i, j) * C(i, k) * D(j, k)).generic().run(); },
                   [=] { sddmm_by_hand(Rows(B), C.values().data(), D.values().data(), inner, *made); },
                   [=] { return same_rows(A, *made); }});
  }
  {
    const auto C = random_tensor<CSR<>>({n, n}, 16 * n, 11);
    const Csr A({n, n});
    const auto made = std::make_shared<RowsMade>(n, B.nnz() + C.nnz());
    out.push_back({"union", "A(i, j) = B(i, j) + C(i, j)",
                   [=] { assign(A(i, j), B(i, j) + C(i, j)).generic().run(); },
                   [=] { union_by_hand(Rows(B), Rows(C), *made); }, [=] { return same_rows(A, *made); }});
  }
  return out;
}

/// @throws StateError if a nest and the loops written by hand compute different results
void run(Report& report) {
  for (const Pair& pair : pairs()) {
    if (!report.wants(pair.name)) continue;
    report.compare({pair.name, {{"statement", pair.statement}}},
                   {{"nest", Role::ours, pair.nest}, {"by_hand", Role::peer, pair.by_hand}});
    if (!pair.same()) throw StateError(pair.name + ": the results differ");
  }
}

}  // namespace
}  // namespace sporos::perf

int main(int argc, char** argv) {
  return sporos::perf::benchmark(argc, argv, "nest", sporos::perf::run, {sporos::perf::Memory::retained});
}
