// SPDX-License-Identifier: Apache-2.0
/// @file sddmm.cpp
/// SDDMM on a known pattern, beside cuSPARSE's with the second dense matrix in either layout. In half, plans
/// of the statement, the one that is chosen and each of the kernels, replayed from CUDA graphs; preparing
/// them is not counted. SPOROS_MATRICES names more matrices for these: files, separated by colons.
/// `difference` is the largest between results of Sporos and cuSPARSE, over the largest entry.
#include <memory>

#include "cublas.hpp"
#include "patterns.hpp"

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
  using Sums = gpu::SampledEpilogue<NoEpilogue<Value>>;
  add(
      "sddmm/sporos" + tail,
      [=](benchmark::State& state) {
        const gpu::SddmmArguments<Value, Value, std::int32_t, std::int32_t, Sums> arguments{
            b.extent(0),
            b.nnz(),
            inner,
            b.template level<1>().positions.data(),
            b.template level<1>().coordinates.data(),
            b.values().data(),
            c.values().data(),
            d.values().data(),
            result.data(),
            {}};
        measure(state, 5, [&] { gpu::sddmm(Kokkos::Cuda(), arguments); });
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
          check(cusparseCreateDnMat(&left, b.extent(0), inner, inner, c.values().data(), cuda_type<Value>,
                                    CUSPARSE_ORDER_ROW),
                "cusparseCreateDnMat");
          check(cusparseCreateDnMat(&right, inner, b.extent(1), by_columns ? inner : b.extent(1),
                                    by_columns ? d.values().data() : d_by_rows.values().data(),
                                    cuda_type<Value>, by_columns ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW),
                "cusparseCreateDnMat");
          const auto operation = CUSPARSE_OPERATION_NON_TRANSPOSE;
          std::size_t size = 0;
          check(cusparseSDDMM_bufferSize(cusparse(), operation, operation, &one, left, right, &zero, pattern,
                                         cuda_type<Value>, CUSPARSE_SDDMM_ALG_DEFAULT, &size),
                "cusparseSDDMM_bufferSize");
          const Array<char, gpu::Memory> buffer("buffer", size);
          check(cusparseSDDMM_preprocess(cusparse(), operation, operation, &one, left, right, &zero, pattern,
                                         cuda_type<Value>, CUSPARSE_SDDMM_ALG_DEFAULT, buffer.data()),
                "cusparseSDDMM_preprocess");
          measure(state, 5, [&] {
            check(cusparseSDDMM(cusparse(), operation, operation, &one, left, right, &zero, pattern,
                                cuda_type<Value>, CUSPARSE_SDDMM_ALG_DEFAULT, buffer.data()),
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

/// The operands of a product in half, of which only the last one asked for is kept.
struct NarrowOperands {
  DeviceCsr<half> b, a, peer;
  Matrix<half> c;
  Tensor<half, DenseMatrix<ColumnMajor>, Cuda> d;

  static const NarrowOperands& of(const Input& input, std::int64_t inner) {
    static std::unique_ptr<NarrowOperands> kept;
    static std::string which;
    [[maybe_unused]] static const bool is_dropped = [] {
      Kokkos::push_finalize_hook([] { kept.reset(); });
      return true;
    }();
    const std::string wanted = text(input.name, "/", inner);
    if (which != wanted) {
      const bool is_same_matrix = kept && which.substr(0, which.rfind('/')) == input.name;
      auto b = is_same_matrix ? kept->b : input.make().template make<half>();
      kept.reset();
      Kokkos::deep_copy(b.values(), half(1.0F));  // cuSPARSE samples by the pattern alone
      const std::int64_t columns = b.extent(1);
      auto peer = b.clone();
      kept.reset(new NarrowOperands{b, DeviceCsr<half>(b.extents()), peer,
                                    random_matrix<half>(b.extent(0), inner, 1),
                                    dense<half, ColumnMajor>(inner, columns, 2)});
      which = wanted;
    }
    return *kept;
  }
};

void add_narrow_product(const Input& input, std::int64_t inner) {
  const std::string tail = text("/", input.name, "/K", inner, "/half");
  const auto count = [=](benchmark::State& state, const NarrowOperands& in) {
    state.counters["flops_per_second"] = benchmark::Counter(
        2.0 * 10 * static_cast<double>(in.b.nnz() * inner), benchmark::Counter::kIsIterationInvariantRate);
    state.counters["nonzeros"] = static_cast<double>(in.b.nnz());
  };
  const auto add_contender = [&]<class K>(const char* name, std::type_identity<K>) {
    add(
        text("sddmm_half/", name, tail),
        [=](benchmark::State& state) {
          const auto& in = NarrowOperands::of(input, inner);
          const auto measure_plan = [&](const auto& statement) {
            auto product = plan(statement);
            measure_graph(state, [&] { product.run(); });
            state.counters["held_bytes"] = static_cast<double>(product.bytes());
            state.SetLabel(std::string(product.candidate()));
          };
          const auto statement = assign(in.a(i, j), in.b(i, j) * in.c(i, k) * in.d(k, j));
          try {
            if constexpr (std::is_void_v<K>)
              measure_plan(statement);
            else
              measure_plan(statement.template use<K>());
          } catch (const std::exception& error) {  // a kernel does not take the pattern
            state.SkipWithError(error.what());
            return;
          }
          count(state, in);
        },
        10);
  };
  add_contender("sporos", std::type_identity<void>{});
  add_contender("warps", std::type_identity<gpu::SddmmByWarps>{});
  add_contender("tiles", std::type_identity<gpu::SddmmByTiles>{});
  add_contender("windows", std::type_identity<gpu::SddmmByWindows>{});
  add_contender("nonzeros", std::type_identity<gpu::SddmmByNonzeros>{});
  add(
      "sddmm_half/cusparse" + tail,
      [=](benchmark::State& state) {
        const auto& in = NarrowOperands::of(input, inner);
        const float one = 1, zero = 0;
        const auto& columns = in.peer.template level<1>();
        cusparseSpMatDescr_t pattern = nullptr;
        cusparseDnMatDescr_t left = nullptr, right = nullptr;
        check(cusparseCreateCsr(&pattern, in.b.extent(0), in.b.extent(1), in.b.nnz(),
                                columns.positions.data(), columns.coordinates.data(), in.peer.values().data(),
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_16F),
              "cusparseCreateCsr");
        check(cusparseCreateDnMat(&left, in.b.extent(0), inner, inner, in.c.values().data(), CUDA_R_16F,
                                  CUSPARSE_ORDER_ROW),
              "cusparseCreateDnMat");
        check(cusparseCreateDnMat(&right, inner, in.b.extent(1), inner, in.d.values().data(), CUDA_R_16F,
                                  CUSPARSE_ORDER_COL),
              "cusparseCreateDnMat");
        const auto none = CUSPARSE_OPERATION_NON_TRANSPOSE;
        std::size_t size = 0;
        check(cusparseSDDMM_bufferSize(cusparse(), none, none, &one, left, right, &zero, pattern, CUDA_R_32F,
                                       CUSPARSE_SDDMM_ALG_DEFAULT, &size),
              "cusparseSDDMM_bufferSize");
        const Array<char, gpu::Memory> buffer("buffer", size + 256);
        check(cusparseSDDMM_preprocess(cusparse(), none, none, &one, left, right, &zero, pattern, CUDA_R_32F,
                                       CUSPARSE_SDDMM_ALG_DEFAULT, buffer.data()),
              "cusparseSDDMM_preprocess");
        measure_graph(state, [&] {
          check(cusparseSDDMM(cusparse(), none, none, &one, left, right, &zero, pattern, CUDA_R_32F,
                              CUSPARSE_SDDMM_ALG_DEFAULT, buffer.data()),
                "cusparseSDDMM");
        });
        count(state, in);
        in.a(i, j) = in.b(i, j) * in.c(i, k) * in.d(k, j);
        state.counters["difference"] = difference(in.a.values(), in.peer.values());
        cusparseDestroySpMat(pattern);
        cusparseDestroyDnMat(left);
        cusparseDestroyDnMat(right);
      },
      10);
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

  std::vector<Input> inputs = named_inputs();
  for (const int percent : {50, 70, 80, 90, 95, 98})
    inputs.push_back(
        {text("random_4096_", percent), [=] { return random_square(4096, (100 - percent) * 0.01); }});
  inputs.push_back({"random_8192_98", [] { return random_square(8192, 0.02); }});
  inputs.push_back({"laplacian27_45", [] { return laplacian(45, true); }});
  inputs.push_back({"rmat_17_4M", [=] { return graph; }});
  inputs.push_back({"uniform_64k_4M", [=] { return random; }});
  for (const auto& input : inputs)
    for (const std::int64_t inner : {32, 128, 256}) add_narrow_product(input, inner);
}

}  // namespace sporos::perf
