// SPDX-License-Identifier: Apache-2.0
/// @file spmm.cpp
/// SpMM by the kernel that a plan chooses, and by cuSPARSE's algorithms, where they are close; and with rows
/// of one length by the kernel for dot products, beside others.
#include <sporos/kernels/spmm/cuda/dot_products_candidate.hpp>

#include "../cusparse_spmm.hpp"
#include "../single_row_mma.hpp"
#include "profile.hpp"

namespace sporos::perf {

namespace {

template <class T>
void profile_spmm(const Input& input, std::int64_t columns) {
  using namespace sporos::indices;
  const std::string family = text("spmm/", input.name, "/", columns, "/", value_name<T>(), "/");
  if (!is_profiled(family)) return;
  const auto a = input.make().make<T>();
  const auto b = random_matrix<T>(a.extent(1), columns, 2);
  const Matrix<T> c({a.extent(0), columns});
  auto product = plan(assign(c(i, j), a(i, k) * b(k, j)).with_constant_operands());
  profile(family + "sporos", [&] { product.run(); });
  const auto profile_cusparse = [&](const char* contender, cusparseSpMMAlg_t algorithm) {
    const CusparseSpmm<T> by_cusparse(a, b, c, algorithm);
    profile(family + contender, [&] { by_cusparse(); });
  };
  profile_cusparse("cusparse_alg2", CUSPARSE_SPMM_CSR_ALG2);
  profile_cusparse("cusparse_alg3", CUSPARSE_SPMM_CSR_ALG3);
}

/// The kernels for dot products and for rows, and one that has a row for an operand, where all rows have as
/// many nonzeros.
void profile_row_class(std::int64_t nonzeros) {
  using namespace sporos::indices;
  constexpr std::int64_t extent = 16384, columns = 128;
  const std::string family = text("spmm/rows_of_", nonzeros, "/", columns, "/half/");
  if (!is_profiled(family)) return;
  const auto a = random_rows(extent, extent, nonzeros, nonzeros).make<half>();
  const auto b = random_matrix<half>(extent, columns, 2);
  const Matrix<half> c({extent, columns});
  const auto statement = assign(c(i, j), a(i, k) * b(k, j));
  auto dot_products = plan(statement.use<gpu::SpmmByDotProducts>());
  profile(family + "dot_products", [&] { dot_products.run(); });
  const SingleRowSpmm<half> single_row(a, b, c);
  profile(family + "single_row", [&] { single_row(); });
  auto by_rows = plan(statement.use<gpu::SpmmByGroups>());
  profile(family + "rows", [&] { by_rows.run(); });
}

}  // namespace

void profile_spmm() {
  for (const std::int64_t nonzeros : {8, 16, 32, 64, 256}) profile_row_class(nonzeros);
  for (const Input& input : named_inputs())
    for (const std::int64_t columns : {32, 64, 256}) {
      profile_spmm<float>(input, columns);
      profile_spmm<half>(input, columns);
      profile_spmm<double>(input, columns);
    }
  profile_spmm<float>({"random_4096_95", [] { return random_square(4096, 0.05); }}, 64);
  profile_spmm<float>({"random_8192_98", [] { return random_square(8192, 0.02); }}, 256);
  for (const int zeros : {50, 80, 90}) {
    const Input random{text("random_4096_", zeros), [=] { return random_square(4096, 1 - zeros / 100.0); }};
    profile_spmm<half>(random, 64);
    profile_spmm<half>(random, 256);
  }
}

}  // namespace sporos::perf
