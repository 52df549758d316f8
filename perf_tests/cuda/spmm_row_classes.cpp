// SPDX-License-Identifier: Apache-2.0
/// @file spmm_row_classes.cpp
/// Products of a sparse and a dense matrix of halfs by matricised dot products (TCA-SpMM), beside one row of
/// the sparse matrix as the operand of an instruction (single_row_mma.hpp) and rows on CUDA cores. All rows
/// of a matrix belong to one class of TCA-SpMM: 4 to 8 nonzeros, 9 to 16, 17 to 32, 33 to 64 or more. The
/// last matrix has few long rows.
///
/// Every contender is replayed from a CUDA graph; preparing it is not counted. Each result is compared with
/// sums in double: what was not a number before must be everywhere within the rounding to half.
#include <algorithm>
#include <limits>
#include <memory>
#include <sporos/kernels/spmm/cuda/dot_products_candidate.hpp>

#include "cublas.hpp"
#include "patterns.hpp"
#include "single_row_mma.hpp"

namespace sporos::perf {

namespace {

using namespace sporos::indices;

/// The operands of a product and its sums in double, of which only those last asked for are kept.
struct RowClass {
  DeviceCsr<half> a;
  Matrix<half> b, c;
  Tensor<double, DenseMatrix<>> sums;

  static const RowClass& of(const Input& input, std::int64_t columns) {
    static std::unique_ptr<RowClass> kept;
    static std::string which;
    [[maybe_unused]] static const bool is_dropped = [] {
      Kokkos::push_finalize_hook([] { kept.reset(); });
      return true;
    }();
    const std::string wanted = text(input.name, "/", columns);
    if (which == wanted) return *kept;
    const bool is_same_matrix = kept && which.substr(0, which.rfind('/')) == input.name;
    const auto a = is_same_matrix ? kept->a : input.make().make<half>();
    kept.reset();
    const auto b = random_matrix<half>(a.extent(1), columns, 2);
    const auto wide_a = convert<Csr, double>(a);
    const auto wide_b = convert<DenseMatrix<>, double>(b);
    const Matrix<double> wide_c({a.extent(0), columns});
    assign(wide_c(i, j), wide_a(i, k) * wide_b(k, j)).use<gpu::SpmmByGroups>().run();
    kept.reset(new RowClass{a, b, Matrix<half>({a.extent(0), columns}), wide_c.copy_to<Host>()});
    which = wanted;
    return *kept;
  }

  /// The number of elements of the result that are wrong.
  std::int64_t wrong() const {
    const auto result = c.copy_to<Host>();
    double largest = 0;
    for (std::int64_t at = 0; at < sums.nnz(); ++at) largest = std::max(largest, std::abs(sums.values()(at)));
    std::int64_t count = 0;
    for (std::int64_t at = 0; at < sums.nnz(); ++at)
      count += !(std::abs(static_cast<double>(result.values()(at)) - sums.values()(at)) <= 1e-3 * largest);
    return count;
  }
};

/// Matricised dot products of rows that are not cut, by a kernel of its own choices.
template <gpu::DotTuning Tuning>
class DotProducts {
 public:
  explicit DotProducts(const RowClass& in) : in_(in) {
    const Kokkos::Cuda space;
    const auto dealing = gpu::DotDealing::of<half>(in.b.extent(1), Tuning);
    gpu::Layout none;
    gpu::RowWarps::lay_out(space, none, in.a.extent(0), in.a.nnz(), dealing);
    memory_ = Array<char, gpu::Memory>("warps", static_cast<std::size_t>(none.bytes()));
    gpu::Layout layout(memory_.data());
    warps_ = gpu::RowWarps::lay_out(space, layout, in.a.extent(0), in.a.nnz(), dealing);
    const auto* const positions = in.a.level<1>().positions.data();
    gpu::find_row_warps(space, positions, in.a.extent(0), longest, warps_);
    warps_.counts = gpu::count_row_warps(space, positions, in.a.extent(0), warps_);
  }
  void operator()() const {
    const auto& level = in_.a.level<1>();
    using View = gpu::CsrView<const half, const std::int32_t, const std::int32_t>;
    const View a{in_.a.extent(0),        in_.a.extent(1),          in_.a.nnz(),
                 level.positions.data(), level.coordinates.data(), in_.a.values().data()};
    const auto epilogue = epilogue_of(assign(in_.c(i, j), in_.a(i, k) * in_.b(k, j)));
    gpu::RowsShape shape;
    shape.columns = 8;
    const gpu::RowsProduct<float, View, half, half, std::remove_const_t<decltype(epilogue)>> product{
        a, in_.b.extent(1), in_.b.values().data(), 0, in_.c.values().data(), false, epilogue, {}, shape};
    gpu::spmm_dot_products<Tuning>(Kokkos::Cuda(), product, warps_, 0);
  }

  static constexpr std::int64_t longest = 512;  ///< nonzeros of a row

 private:
  const RowClass& in_;
  Array<char, gpu::Memory> memory_;
  gpu::RowWarps warps_;
};

/// @param prepare  returns what starts the product of a RowClass
template <class Prepare>
void add_contender(const char* name, const Input& input, std::int64_t columns, const Prepare& prepare) {
  add(
      text("tca_classes/", name, "/", input.name, "/", columns),
      [=](benchmark::State& state) {
        const RowClass& in = RowClass::of(input, columns);
        try {
          const auto product = prepare(in);
          measure_graph(state, [&] { product(); });
          Kokkos::deep_copy(in.c.values(), half(std::numeric_limits<float>::quiet_NaN()));
          product();
          if (const std::int64_t wrong = in.wrong(); wrong > 0)
            state.SkipWithError(text(wrong, " elements are wrong").c_str());
        } catch (const std::exception& error) {
          state.SkipWithError(error.what());
          return;
        }
        state.counters["flops_per_second"] =
            benchmark::Counter(2.0 * 10 * static_cast<double>(in.a.nnz()) * static_cast<double>(columns),
                               benchmark::Counter::kIsIterationInvariantRate);
        state.counters["nonzeros"] = static_cast<double>(in.a.nnz());
      },
      10);
}

template <class Kernel>
auto by_plan() {
  return [](const RowClass& in) {
    const auto statement = assign(in.c(i, j), in.a(i, k) * in.b(k, j)).with_constant_operands();
    auto product = std::make_shared<decltype(plan(statement.template use<Kernel>()))>(
        plan(statement.template use<Kernel>()));
    return [product] { product->run(); };
  };
}

template <gpu::DotTuning Tuning>
auto by_tuning() {
  return [](const RowClass& in) {
    auto product = std::make_shared<DotProducts<Tuning>>(in);
    return [product] { (*product)(); };
  };
}

}  // namespace

void add_row_classes() {
  constexpr std::int64_t n = 16384;
  std::vector<Input> inputs;
  for (const auto& [fewest, most] : {std::pair(4, 8), {9, 16}, {17, 32}, {33, 64}, {65, 512}})
    inputs.push_back({text(fewest, "_to_", most), [=] { return random_rows(n, n, fewest, most); }});
  const Input few{"few_of_4096_to_8192", [] { return random_rows(64, n, 4096, 8192); }};
  const auto add_all = [](const Input& input, std::int64_t columns, bool are_cut) {
    add_contender("tca", input, columns, by_plan<gpu::SpmmByDotProducts>());
    add_contender("single_row", input, columns,
                  [](const RowClass& in) { return SingleRowSpmm<half>(in.a, in.b, in.c); });
    add_contender("rows", input, columns, by_plan<gpu::SpmmByGroups>());
    if (are_cut) return;
    add_contender("tca_8_segments", input, columns, by_tuning<gpu::DotTuning{}>());
  };
  for (const Input& input : inputs)
    for (const std::int64_t columns : {32, 64, 128, 256}) add_all(input, columns, false);
  for (const std::int64_t columns : {32, 64, 128, 256}) add_all(few, columns, true);
}

}  // namespace sporos::perf
