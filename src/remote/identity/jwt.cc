#include "src/remote/identity/jwt.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>

#include "recpack/base/bytes.h"
#include "recpack/base/error.h"

namespace recpack::remote {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// Base64 for URLs, without padding (RFC 4648, section 5).
std::string Base64Url(ByteView bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(length));
  while (text.ends_with('=')) text.pop_back();
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text;
}

// A key with a passphrase is refused: there is nobody to ask.
int NoPassphrase(char*, int, int, void*) { return -1; }

// RSASSA-PKCS1-v1_5 with SHA-256; empty if it fails.
ByteBuffer SignRs256(const std::string& text, const std::string& private_key) {
  const std::unique_ptr<BIO, Free> pem(
      BIO_new_mem_buf(private_key.data(), static_cast<int>(private_key.size())));
  const std::unique_ptr<EVP_PKEY, Free> key(
      pem ? PEM_read_bio_PrivateKey(pem.get(), nullptr, NoPassphrase, nullptr) : nullptr);
  const std::unique_ptr<EVP_MD_CTX, Free> context(EVP_MD_CTX_new());
  if (!key || EVP_PKEY_base_id(key.get()) != EVP_PKEY_RSA || !context) return {};
  size_t size = 0;
  const ByteView bytes = AsBytes(text);
  if (EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, bytes.data(), bytes.size()) != 1) {
    return {};
  }
  ByteBuffer signature(size);
  if (EVP_DigestSign(context.get(), signature.data(), &size, bytes.data(), bytes.size()) != 1) {
    return {};
  }
  signature.resize(size);
  return signature;
}

}  // namespace

std::string SignJwt(const std::string& header, const std::string& claims,
                    const std::string& private_key) {
  const std::string text = Base64Url(AsBytes(header)) + "." + Base64Url(AsBytes(claims));
  const ByteBuffer signature = SignRs256(text, private_key);
  if (signature.empty()) {
    ERR_clear_error();  // of this thread; others use OpenSSL, too
    throw Error(ErrorKind::kInvalidArgument, "the private key is no RSA key in PEM", {},
                "use the file as it was downloaded");
  }
  return text + "." + Base64Url(signature);
}

}  // namespace recpack::remote
