// SPDX-License-Identifier: Apache-2.0
/// @file spmv.cpp
/// SpMV: the kernel and the whole statement, beside cuSPARSE's two algorithms for CSR.
#include "harness.hpp"

namespace sporos::perf {

namespace {

using namespace sporos::indices;

template <class Value>
void add_matrix(const std::string& matrix, const CsrMaker& maker) {
  const auto a = maker.make<Value>();
  Tensor<Value, DenseVector> host_x({a.extent(1)});
  for (std::int64_t at = 0; at < host_x.nnz(); ++at)
    host_x.values()(at) = static_cast<Value>(1 + at % 13) / 13;
  const auto x = host_x.template copy_to<Cuda>();
  const Tensor<Value, DenseVector, Cuda> y({a.extent(0)});
  const Tensor<Value, DenseVector, Cuda> peer_y({a.extent(0)});
  const std::string tail = "/" + matrix + "/" + std::string(value_name<Value>());
  const double bytes = static_cast<double>(a.bytes() + x.bytes() + y.bytes());
  const auto count = [=](benchmark::State& state) {
    state.counters["bytes_per_second"] =
        benchmark::Counter(bytes, benchmark::Counter::kIsIterationInvariantRate);
    state.counters["nonzeros"] = static_cast<double>(a.nnz());
  };

  for (const bool planned : {true, false})
    add((planned ? "spmv/sporos" : "spmv/sporos_without_plan") + tail,
        [=](benchmark::State& state) {
          const gpu::SpmvArguments arguments{a.extent(0),
                                             a.template level<1>().positions.data(),
                                             a.template level<1>().coordinates.data(),
                                             a.values().data(),
                                             x.values().data(),
                                             y.values().data()};
          const auto plan =
              make_array<gpu::SpmvTileStart, gpu::Memory>("plan", gpu::spmv_tiles(a.extent(0), a.nnz()) + 1);
          gpu::plan_spmv(Kokkos::Cuda(), arguments, a.nnz(), plan.data());
          const auto workspace = detail::default_scratch<Cuda>().borrow<gpu::SpmvWorkspace>();
          measure(state, 20, [&] {
            gpu::spmv<Value>(Kokkos::Cuda(), arguments, a.nnz(), *workspace, planned ? plan.data() : nullptr);
          });
          count(state);
        },
        10);
  add(
      "spmv/sporos_statement" + tail,
      [=](benchmark::State& state) {
        measure(state, 20, [&] { y(i) = a(i, j) * x(j); });
        count(state);
      },
      10);
  for (const auto& [name, algorithm] : {std::pair("cusparse_alg1", CUSPARSE_SPMV_CSR_ALG1),
                                        std::pair("cusparse_alg2", CUSPARSE_SPMV_CSR_ALG2)})
    add(
        "spmv/" + std::string(name) + tail,
        [=, algorithm = algorithm](benchmark::State& state) {
          const Value one{1};
          const Value zero{0};
          const auto matrix_of = describe(a);
          cusparseDnVecDescr_t in = nullptr;
          cusparseDnVecDescr_t out = nullptr;
          check(cusparseCreateDnVec(&in, x.nnz(), x.values().data(), cuda_type<Value>),
                "cusparseCreateDnVec");
          check(cusparseCreateDnVec(&out, y.nnz(), peer_y.values().data(), cuda_type<Value>),
                "cusparseCreateDnVec");
          std::size_t size = 0;
          check(cusparseSpMV_bufferSize(cusparse(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_of, in,
                                        &zero, out, cuda_type<Value>, algorithm, &size),
                "cusparseSpMV_bufferSize");
          const Array<char, gpu::Memory> buffer("buffer", size);
          check(cusparseSpMV_preprocess(cusparse(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_of, in,
                                        &zero, out, cuda_type<Value>, algorithm, buffer.data()),
                "cusparseSpMV_preprocess");
          measure(state, 20, [&] {
            check(cusparseSpMV(cusparse(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_of, in, &zero, out,
                               cuda_type<Value>, algorithm, buffer.data()),
                  "cusparseSpMV");
          });
          count(state);
          y(i) = a(i, j) * x(j);
          state.counters["difference"] = difference(y.values(), peer_y.values());
          cusparseDestroySpMat(matrix_of);
          cusparseDestroyDnVec(in);
          cusparseDestroyDnVec(out);
        },
        10);
}

void add_both(const std::string& matrix, const CsrMaker& maker) {
  add_matrix<double>(matrix, maker);
  add_matrix<float>(matrix, maker);
}

}  // namespace

void add_spmv() {
  add_both("laplacian7_200", laplacian(200, false));
  add_both("laplacian27_100", laplacian(100, true));
  add_both("rmat_20_16M", rmat(20, 16'000'000));
  add_both("uniform_1M_16M", uniform(1'000'000, 1'000'000, 16'000'000));
  add_both("uniform_4M_8M", uniform(4'000'000, 4'000'000, 8'000'000));
  add_both("uniform_20k_16M", uniform(20'000, 200'000, 16'000'000));
  add_both("few_long_rows_1M_8M", few_long_rows(1'000'000, 8'000'000));
  add_both("laplacian7_80", laplacian(80, false));
  add_both("laplacian27_45", laplacian(45, true));
  add_both("rmat_16_500k", rmat(16, 500'000));
}

}  // namespace sporos::perf
