#include "src/remote/identity/jwt.h"

#include <gtest/gtest.h>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "tests/golden.h"

namespace recpack::remote {
namespace {

std::string GoldenText(const std::string& name) {
  const ByteBuffer bytes = ReadWholeFile(PosixFiles(), GoldenPath(name));
  return std::string(AsText(bytes));
}

TEST(SignJwt, IsTheExampleOfTheStandard) {
  // RFC 7515, appendix A.2.
  EXPECT_EQ(SignJwt(R"({"alg":"RS256"})",
                    "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n "
                    "\"http://example.com/is_root\":true}",
                    GoldenText("tls/rfc7515_a2.pem")),
            "eyJhbGciOiJSUzI1NiJ9."
            "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290"
            "Ijp0cnVlfQ."
            "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_"
            "O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIA"
            "RNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPq"
            "vhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77"
            "Rw");
}

TEST(SignJwt, RefusesWhatIsNoKey) {
  for (const std::string& key : {std::string(), std::string("-----BEGIN PRIVATE KEY-----\nAAAA\n"),
                                 GoldenText("tls/authority.pem")}) {
    EXPECT_THROW(SignJwt("{}", "{}", key), Error) << key;
  }
}

}  // namespace
}  // namespace recpack::remote
