// SPDX-License-Identifier: Apache-2.0
/// @file sddmm.cpp
/// SDDMM on a known pattern, beside cuSPARSE's with the second dense matrix in either layout.
#include "harness.hpp"

namespace sporos::perf {

namespace {

using namespace sporos::indices;

template <class Value, class Layout>
Tensor<Value, DenseMatrix<Layout>, Cuda> dense(std::int64_t rows, std::int64_t columns, unsigned seed) {
  Tensor<Value, DenseMatrix<Layout>> out({rows, columns});
  std::mt19937 draw(seed);
  for (std::int64_t at = 0; at < out.nnz(); ++at)
    out.values()(at) = static_cast<Value>(static_cast<double>(draw()) / 4294967296.0 - 0.3);
  return out.template copy_to<Cuda>();
}

template <class Value>
void add_matrix(const std::string& matrix, const CsrMaker& maker, std::int64_t inner) {
  const auto b = maker.make<Value>();
  Kokkos::deep_copy(b.values(), Value{1});  // cuSPARSE samples by the pattern alone
  const auto c = dense<Value, RowMajor>(b.extent(0), inner, 1);
  const auto d = dense<Value, ColumnMajor>(inner, b.extent(1), 2);
  const auto d_by_rows = dense<Value, RowMajor>(inner, b.extent(1), 2);
  const Tensor<Value, Csr, Cuda> a(b.extents());
  const auto peer = b.clone();
  const std::string tail =
      "/" + matrix + "/K" + std::to_string(inner) + "/" + std::string(value_name<Value>());
  const auto flops = [=](benchmark::State& state) {
    state.counters["flops"] = benchmark::Counter(2.0 * static_cast<double>(b.nnz() * inner),
                                                 benchmark::Counter::kIsIterationInvariantRate);
  };
  const auto result = make_array<Value, gpu::Memory>("result", b.nnz());
  add(
      "sddmm/sporos" + tail,
      [=](benchmark::State& state) {
        const gpu::SddmmArguments<Value, Value, std::int32_t, std::int32_t> arguments{
            b.extent(0),
            b.nnz(),
            inner,
            b.template level<1>().positions.data(),
            b.template level<1>().coordinates.data(),
            b.values().data(),
            c.values().data(),
            d.values().data(),
            result.data()};
        measure(state, 5, [&] { gpu::sddmm<Value>(Kokkos::Cuda(), arguments); });
        flops(state);
      },
      10);
  add(
      "sddmm/sporos_statement" + tail,
      [=](benchmark::State& state) {
        measure(state, 5, [&] { a(i, j) = b(i, j) * c(i, k) * d(k, j); });
        flops(state);
      },
      10);
  add(
      "sddmm/sporos_statement_rowmajor_D" + tail,
      [=](benchmark::State& state) {
        measure(state, 5, [&] { a(i, j) = b(i, j) * c(i, k) * d_by_rows(k, j); });
        flops(state);
      },
      10);
  for (const bool by_columns : {true, false})
    add(
        "sddmm/cusparse" + std::string(by_columns ? "" : "_rowmajor_D") + tail,
        [=](benchmark::State& state) {
          const Value one{1};
          const Value zero{0};
          const auto pattern = describe(peer);
          cusparseDnMatDescr_t left = nullptr;
          cusparseDnMatDescr_t right = nullptr;
          check(cusparseCreateDnMat(&left, b.extent(0), inner, inner, c.values().data(), data_type<Value>,
                                    CUSPARSE_ORDER_ROW),
                "cusparseCreateDnMat");
          check(cusparseCreateDnMat(&right, inner, b.extent(1), by_columns ? inner : b.extent(1),
                                    by_columns ? d.values().data() : d_by_rows.values().data(),
                                    data_type<Value>, by_columns ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW),
                "cusparseCreateDnMat");
          const auto operation = CUSPARSE_OPERATION_NON_TRANSPOSE;
          std::size_t size = 0;
          check(cusparseSDDMM_bufferSize(cusparse(), operation, operation, &one, left, right, &zero, pattern,
                                         data_type<Value>, CUSPARSE_SDDMM_ALG_DEFAULT, &size),
                "cusparseSDDMM_bufferSize");
          const Array<char, gpu::Memory> buffer("buffer", size);
          check(cusparseSDDMM_preprocess(cusparse(), operation, operation, &one, left, right, &zero, pattern,
                                         data_type<Value>, CUSPARSE_SDDMM_ALG_DEFAULT, buffer.data()),
                "cusparseSDDMM_preprocess");
          measure(state, 5, [&] {
            check(cusparseSDDMM(cusparse(), operation, operation, &one, left, right, &zero, pattern,
                                data_type<Value>, CUSPARSE_SDDMM_ALG_DEFAULT, buffer.data()),
                  "cusparseSDDMM");
          });
          flops(state);
          if (by_columns) {
            a(i, j) = b(i, j) * c(i, k) * d(k, j);
            state.counters["difference"] = difference(a.values(), peer.values());
          }
          cusparseDestroySpMat(pattern);
          cusparseDestroyDnMat(left);
          cusparseDestroyDnMat(right);
        },
        5);
}

}  // namespace

void add_sddmm() {
  const auto random = uniform(65'536, 65'536, 4'000'000);
  const auto graph = rmat(17, 4'000'000);
  for (const std::int64_t inner : {32, 128}) {
    add_matrix<float>("uniform_64k_4M", random, inner);
    add_matrix<double>("uniform_64k_4M", random, inner);
    add_matrix<float>("rmat_17_4M", graph, inner);
    add_matrix<double>("rmat_17_4M", graph, inner);
  }
  add_matrix<float>("laplacian27_45", laplacian(45, true), 64);
}

}  // namespace sporos::perf
