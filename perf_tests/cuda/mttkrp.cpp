// SPDX-License-Identifier: Apache-2.0
/// @file mttkrp.cpp
/// MTTKRP in float, R = 16, of a 12092 x 9184 x 28818 tensor with 10^7 nonzeros, uniform and skewed: each
/// mode from coordinates in one order, from coordinates and from fibers sorted by the mode.
#include <cmath>

#include "harness.hpp"

namespace sporos::perf {

namespace {

using namespace sporos::indices;

constexpr std::int64_t rank = 16;
const Extents<3> extents{12'092, 9'184, 28'818};

Entries<float, 3> random_tensor(std::int64_t count, bool skewed) {
  std::mt19937_64 random(7);
  Entries<float, 3> out(extents, count);
  for (std::int64_t at = 0; at < count; ++at) {
    Extents<3> coordinate{};
    for (std::size_t mode = 0; mode < 3; ++mode) {
      const double x = static_cast<double>(random() >> 11) * 0x1p-53;
      const auto extent = static_cast<double>(extents[mode]);
      // Skewed: the chance of coordinate c falls as 1 / c^(2/3).
      coordinate[mode] = static_cast<std::int64_t>(skewed ? extent * x * x * x : extent * x);
    }
    out.set(at, coordinate, static_cast<float>(random() >> 40) * 0x1p-24F);
  }
  return out;
}

using Matrix = Tensor<float, DenseMatrix<>, Cuda>;

Matrix factor(std::int64_t rows, unsigned seed) {
  Tensor<float, DenseMatrix<>> out({rows, rank});
  std::mt19937 draw(seed);
  for (std::int64_t at = 0; at < out.nnz(); ++at)
    out.values()(at) = static_cast<float>(draw() >> 8) * 0x1p-24F;
  return out.copy_to<Cuda>();
}

/// The product of one mode of `t`, M(i, r) = T(i, k, l) * B(k, r) * C(l, r) and so on.
template <int Mode, class T>
void multiply(const Matrix& m, const T& t, const Matrix (&factors)[3]) {
  if constexpr (Mode == 0)
    m(i, r) = t(i, k, l) * factors[1](k, r) * factors[2](l, r);
  else if constexpr (Mode == 1)
    m(k, r) = t(i, k, l) * factors[0](i, r) * factors[2](l, r);
  else
    m(l, r) = t(i, k, l) * factors[0](i, r) * factors[1](k, r);
}

template <class F, int Mode>
void add_mode(const std::string& name, const Tensor<float, F, Cuda>& t) {
  const Matrix factors[3] = {factor(extents[0], 1), factor(extents[1], 2), factor(extents[2], 3)};
  const Matrix m({extents[Mode], rank});
  const std::string full = "mttkrp/" + name + "/mode" + std::to_string(Mode);
  add(
      full,
      [=](benchmark::State& state) {
        measure(state, 5, [&] { multiply<Mode>(m, t, factors); });
        state.counters["nonzeros"] = static_cast<double>(t.nnz());
      },
      10);
}

template <class F, int Mode>
void add_sorted(const std::string& name, const Entries<float, 3>& entries) {
  add_mode<F, Mode>(name, assemble<F>(entries).template copy_to<Cuda>());
}

}  // namespace

void add_mttkrp() {
  for (const bool skewed : {false, true}) {
    const auto entries = random_tensor(10'000'000, skewed);
    const std::string data = skewed ? "skewed/" : "uniform/";
    const auto one = assemble<COO<3>>(entries).copy_to<Cuda>();
    add_mode<COO<3>, 0>(data + "one_coo", one);
    add_mode<COO<3>, 1>(data + "one_coo", one);
    add_mode<COO<3>, 2>(data + "one_coo", one);
    add_mode<COO<3>, 0>(data + "coo_sorted_by_mode", one);
    add_sorted<COO<3, ModeOrder<1, 0, 2>>, 1>(data + "coo_sorted_by_mode", entries);
    add_sorted<COO<3, ModeOrder<2, 0, 1>>, 2>(data + "coo_sorted_by_mode", entries);
    const auto fibers = assemble<CSF<3>>(entries).copy_to<Cuda>();
    add_mode<CSF<3>, 0>(data + "one_csf", fibers);
    add_mode<CSF<3>, 1>(data + "one_csf", fibers);
    add_mode<CSF<3>, 2>(data + "one_csf", fibers);
  }
}

}  // namespace sporos::perf
