#pragma once
// What C libraries give, owned: std::unique_ptr<BIO, Freer<BIO_free_all>>.

namespace kepler {

template <auto kFree>
struct Freer {
  void operator()(auto* object) const { kFree(object); }
};

}  // namespace kepler
