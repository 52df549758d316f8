// SPDX-License-Identifier: Apache-2.0
/// @file nest.cpp
/// The loop nest on the GPU, forced by .generic(), beside the kernel that a plan chooses: products of a
/// sparse matrix in CSR with dense matrices and with a vector. Rows of R-MAT have up to thousands of
/// nonzeros.
#include "cublas.hpp"

namespace sporos::perf {

namespace {

using namespace sporos::indices;

template <class Statement>
void add_both(const std::string& tail, const Statement& statement) {
  const auto add_plan = [&](const char* name, const auto& of) {
    add(
        text("nest/", name, tail),
        [=](benchmark::State& state) {
          auto product = plan(of);
          measure(state, 1, [&] { product.run(); });
          state.SetLabel(std::string(product.candidate()));
        },
        5);
  };
  add_plan("plan", statement);
  add_plan("nest", statement.generic());
}

void add_matrix(const std::string& name, const CsrMaker& maker) {
  const auto a = maker.make<float>();
  const std::int64_t rows = a.extent(0), inner = a.extent(1);
  for (const std::int64_t columns : {32, 128}) {
    const Matrix<float> c({rows, columns});
    add_both(text("/", name, "/", columns, "/float"),
             assign(c(i, j), a(i, k) * random_matrix<float>(inner, columns, 2)(k, j)));
  }
  const Tensor<float, DenseVector, Cuda> x({inner}), y({rows});
  Kokkos::deep_copy(x.values(), 0.5F);
  add_both(text("/", name, "/vector/float"), assign(y(i), a(i, k) * x(k)));
}

}  // namespace

void add_nests() {
  add_matrix("rmat_17_2M", rmat(17, 2'000'000));
  add_matrix("rmat_20_10M", rmat(20, 10'000'000));
  add_matrix("uniform_64k_4M", uniform(65'536, 65'536, 4'000'000));
  add_matrix("laplacian27_45", laplacian(45, true));
  add_matrix("few_long_rows_100k_1M", few_long_rows(100'000, 1'000'000));
  add_matrix("uniform_1k_20k", uniform(1000, 1000, 20'000));
}

}  // namespace sporos::perf
