// SPDX-License-Identifier: Apache-2.0
/// @file consumer.cpp
/// What a user's first program does: it includes everything, assembles two matrices, multiplies them and
/// looks.
#include <cstdio>
#include <sporos/sporos.hpp>
#include <string_view>

#ifdef EXPECTED_VERSION
static_assert(std::string_view(SPOROS_VERSION_STRING) == EXPECTED_VERSION);
#endif

/// With HDF5, a tensor is written and read back; without it, both are refused by an error that says why.
template <class T>
bool binsparse_is_there_or_refused(const T& A) {
  using namespace sporos;
  const char* const path = "consumer.bsp.h5";
#ifdef SPOROS_HAVE_HDF5
  write(path, A);
  const bool same = read<CSR<>>(path).nnz() == A.nnz();
  std::remove(path);
  return same;
#else
  const auto is_refused = [](const auto& body) {
    try {
      body();
    } catch (const IoError& error) {
      if (std::string_view(error.what()).find("was built without HDF5") != std::string_view::npos)
        return true;
      std::fprintf(stderr, "%s\n", error.what());
    }
    return false;
  };
  const bool writing = is_refused([&] { write(path, A); });
  std::FILE* const file = std::fopen(path, "wb");
  std::fwrite(io::hdf5_magic.data(), 1, io::hdf5_magic.size(), file);
  std::fclose(file);
  const bool reading = is_refused([&] { read<CSR<>>(path); }) && is_refused([&] { inspect(path); });
  std::remove(path);
  return writing && reading;
#endif
}

int main(int argc, char** argv) {
  using namespace sporos;
  const ScopeGuard guard(argc, argv);
  try {
    const auto B = assemble<CSR<>>(Entries<double, 2>({2, 3}, {{{0, 0}, 2.0}, {{0, 2}, 3.0}, {{1, 1}, 5.0}}));
    const auto C =
        assemble<CSR<>>(Entries<double, 2>({3, 2}, {{{0, 1}, 7.0}, {{2, 1}, 11.0}, {{1, 0}, 13.0}}));
    Tensor<double, CSR<>> A({2, 2});
    const Index<'i'> i;
    const Index<'j'> j;
    const Index<'k'> k;
    A(i, j) = B(i, k) * C(k, j);
    const auto values = A.values();
    if (A.nnz() != 2 || values(0) != 2.0 * 7.0 + 3.0 * 11.0 || values(1) != 5.0 * 13.0) {
      std::fprintf(stderr, "the product is wrong\n");
      return 1;
    }
    return binsparse_is_there_or_refused(A) ? 0 : 1;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 1;
}
