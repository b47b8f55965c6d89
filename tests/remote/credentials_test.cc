#include "src/remote/sign/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/temporaries.h"
#include "src/remote/sign/profile_file.h"

namespace recpack::remote {
namespace {

using testing::HasSubstr;

class CredentialsTest : public testing::Test {
 protected:
  StoreSettings Find(const std::string& scheme = "s3") const {
    return FindSettings(scheme, [this](const char* name) {
      const auto found = environment_.find(name);
      return found == environment_.end() ? std::string() : found->second;
    });
  }
  void Write(const std::string& name, const std::string& text) const {
    WriteFileAtomically(PosixFiles(), home_.path() + "/" + name, AsBytes(text), false);
  }

  const ScratchFolder home_;
  std::map<std::string, std::string> environment_ = {
      {"AWS_SHARED_CREDENTIALS_FILE", home_.path() + "/credentials"},
      {"AWS_CONFIG_FILE", home_.path() + "/config"}};
};

TEST_F(CredentialsTest, NoneIsAnonymous) {
  const StoreSettings settings = Find();
  EXPECT_FALSE(settings.credentials);
  EXPECT_EQ(settings.region, "us-east-1");
  EXPECT_EQ(settings.endpoint, "");
}

TEST_F(CredentialsTest, TheEnvironmentComesBeforeFiles) {
  Write("credentials", "[default]\naws_access_key_id = F\naws_secret_access_key = G\n");
  EXPECT_EQ(Find().credentials->access, "F");
  environment_["AWS_ACCESS_KEY_ID"] = "A";
  environment_["AWS_SECRET_ACCESS_KEY"] = "B";
  environment_["AWS_SESSION_TOKEN"] = "C";
  environment_["AWS_REGION"] = "eu-central-1";
  environment_["AWS_ENDPOINT_URL"] = "http://127.0.0.1:9000";
  const StoreSettings settings = Find();
  EXPECT_EQ(settings.credentials->access, "A");
  EXPECT_EQ(settings.credentials->secret, "B");
  EXPECT_EQ(settings.credentials->token, "C");
  EXPECT_EQ(settings.region, "eu-central-1");
  EXPECT_EQ(settings.endpoint, "http://127.0.0.1:9000");
  environment_["RECPACK_S3_ANONYMOUS"] = "1";
  EXPECT_FALSE(Find().credentials);
}

TEST_F(CredentialsTest, ProfilesAreMergedFromBothFiles) {
  Write("config",
        "[default]\nregion=us-west-1\n[profile other]\nregion = eu-west-1\n"
        "endpoint_url = https://store\ns3 =\n  region = nested\naws_access_key_id = old\n");
  Write("credentials",
        "# keys\n[other]\r\naws_access_key_id=O\r\naws_secret_access_key = a=b \r\n[default]\n");
  environment_["AWS_PROFILE"] = "other";
  const StoreSettings settings = Find();
  EXPECT_EQ(settings.credentials->access, "O");
  EXPECT_EQ(settings.credentials->secret, "a=b");
  EXPECT_EQ(settings.region, "eu-west-1");
  EXPECT_EQ(settings.endpoint, "https://store");
  EXPECT_EQ(settings.source, "the profile 'other'");
}

TEST_F(CredentialsTest, RefusesHalfAPairAndUnknownProfiles) {
  const auto reason = [&] {
    try {
      Find();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  environment_["AWS_ACCESS_KEY_ID"] = "A";
  EXPECT_THAT(reason(), HasSubstr("set both"));
  environment_["AWS_PROFILE"] = "missing";
  EXPECT_THAT(reason(), HasSubstr("no profile 'missing'"));
}

TEST_F(CredentialsTest, GoogleHasKeysOfItsOwn) {
  environment_["AWS_ACCESS_KEY_ID"] = "A";
  EXPECT_FALSE(Find("gs").credentials);
  EXPECT_EQ(Find("gs").endpoint, "https://storage.googleapis.com");
  environment_["GS_ACCESS_KEY_ID"] = "G";
  environment_["GS_SECRET_ACCESS_KEY"] = "H";
  EXPECT_EQ(Find("gs").credentials->access, "G");
  EXPECT_EQ(Find("gs").dialect, Dialect::kGoogle);
  environment_["RECPACK_GS_ENDPOINT"] = "https://private";
  EXPECT_EQ(Find("gs").endpoint, "https://private");
  EXPECT_FALSE(Find("gs").anonymous);
  environment_["RECPACK_GS_ANONYMOUS"] = "1";
  EXPECT_FALSE(Find("gs").credentials);
}

TEST_F(CredentialsTest, EmulatorsOfGoogleNeedNoCredentials) {
  environment_["STORAGE_EMULATOR_HOST"] = "localhost:9023";
  EXPECT_EQ(Find("gs").endpoint, "http://localhost:9023");
  EXPECT_TRUE(Find("gs").anonymous);
}

}  // namespace
}  // namespace recpack::remote
