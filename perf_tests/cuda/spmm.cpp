// SPDX-License-Identifier: Apache-2.0
/// @file spmm.cpp
/// The product of a sparse and a dense matrix as the loop nest computes it on the GPU, beside cuSPARSE's
/// three algorithms for CSR. Dense matrices are row-major, of 32 and 128 columns.
#include "harness.hpp"

namespace sporos::perf {

namespace {

using namespace sporos::indices;

template <class Value>
using DeviceDense = Tensor<Value, DenseMatrix<>, Cuda>;

template <class Value>
cusparseDnMatDescr_t describe(const DeviceDense<Value>& a) {
  cusparseDnMatDescr_t out = nullptr;
  check(cusparseCreateDnMat(&out, a.extent(0), a.extent(1), a.extent(1), a.values().data(), data_type<Value>,
                            CUSPARSE_ORDER_ROW),
        "cusparseCreateDnMat");
  return out;
}

template <class Value>
void add_product(const std::string& matrix, const DeviceCsr<Value>& a, std::int64_t columns) {
  Tensor<Value, DenseMatrix<>> host_b({a.extent(1), columns});
  for (std::int64_t at = 0; at < host_b.nnz(); ++at)
    host_b.values()(at) = static_cast<Value>(1 + at % 13) / 13;
  const auto b = host_b.template copy_to<Cuda>();
  const DeviceDense<Value> c({a.extent(0), columns}), peer_c({a.extent(0), columns});
  const std::string tail =
      "/" + matrix + "/" + std::to_string(columns) + "/" + std::string(value_name<Value>());
  const auto count = [=](benchmark::State& state) {
    state.counters["flops_per_second"] = benchmark::Counter(2.0 * static_cast<double>(a.nnz() * columns),
                                                            benchmark::Counter::kIsIterationInvariantRate);
    state.counters["nonzeros"] = static_cast<double>(a.nnz());
  };
  for (const bool generic : {false, true})
    add((generic ? "spmm/nest" : "spmm/sporos_statement") + tail,
        [=](benchmark::State& state) {
          measure(state, 5, [&] {
            if (generic)
              assign(c(i, j), a(i, k) * b(k, j)).generic().run();
            else
              c(i, j) = a(i, k) * b(k, j);
          });
          count(state);
        },
        10);
  for (const auto& [name, algorithm] : {std::pair("cusparse_alg1", CUSPARSE_SPMM_CSR_ALG1),
                                        std::pair("cusparse_alg2", CUSPARSE_SPMM_CSR_ALG2),
                                        std::pair("cusparse_alg3", CUSPARSE_SPMM_CSR_ALG3)})
    add(
        "spmm/" + std::string(name) + tail,
        [=, algorithm = algorithm](benchmark::State& state) {
          const Value one{1};
          const Value zero{0};
          const auto of_a = perf::describe(a);
          const auto of_b = describe(b);
          const auto of_c = describe(peer_c);
          const auto none = CUSPARSE_OPERATION_NON_TRANSPOSE;
          std::size_t size = 0;
          check(cusparseSpMM_bufferSize(cusparse(), none, none, &one, of_a, of_b, &zero, of_c,
                                        data_type<Value>, algorithm, &size),
                "cusparseSpMM_bufferSize");
          const Array<char, gpu::Memory> buffer("buffer", size);
          check(cusparseSpMM_preprocess(cusparse(), none, none, &one, of_a, of_b, &zero, of_c,
                                        data_type<Value>, algorithm, buffer.data()),
                "cusparseSpMM_preprocess");
          measure(state, 5, [&] {
            check(cusparseSpMM(cusparse(), none, none, &one, of_a, of_b, &zero, of_c, data_type<Value>,
                               algorithm, buffer.data()),
                  "cusparseSpMM");
          });
          count(state);
          c(i, j) = a(i, k) * b(k, j);
          state.counters["difference"] = difference(c.values(), peer_c.values());
          cusparseDestroySpMat(of_a);
          cusparseDestroyDnMat(of_b);
          cusparseDestroyDnMat(of_c);
        },
        10);
}

template <class Value>
void add_matrix(const std::string& matrix, const CsrMaker& maker) {
  const auto a = maker.make<Value>();
  for (const std::int64_t columns : {32, 128}) add_product(matrix, a, columns);
}

}  // namespace

void add_spmm() {
  add_matrix<double>("laplacian7_80", laplacian(80, false));
  add_matrix<double>("laplacian27_45", laplacian(45, true));
  add_matrix<double>("rmat_16_500k", rmat(16, 500'000));
  add_matrix<double>("uniform_20k_4M", uniform(20'000, 200'000, 4'000'000));
  add_matrix<float>("laplacian27_45", laplacian(45, true));
  add_matrix<float>("rmat_16_500k", rmat(16, 500'000));
}

}  // namespace sporos::perf
