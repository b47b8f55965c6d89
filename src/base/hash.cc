#include "recpack/base/hash.h"

#include <openssl/evp.h>

#include "recpack/base/error.h"

namespace recpack {

struct Sha256::State {
  State() : context(EVP_MD_CTX_new()) {
    if (context == nullptr) throw std::bad_alloc();
    Start();
  }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;

  void Start() {
    if (EVP_DigestInit_ex(context, EVP_sha256(), nullptr) != 1) {
      throw Error(ErrorKind::kUnsupported, "libcrypto does not provide SHA-256");
    }
  }

  EVP_MD_CTX* context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::Update(ByteView bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

Sha256Digest Sha256::Finish() {
  Sha256Digest digest;
  EVP_DigestFinal_ex(state_->context, digest.data(), nullptr);
  state_->Start();
  return digest;
}

std::string Hex(ByteView bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace recpack
