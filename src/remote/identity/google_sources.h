// Sources of credentials for gs://: Google's Application Default Credentials
// (cloud.google.com/docs/authentication/application-default-credentials).
#pragma once

#include "src/remote/identity/credential_source.h"

namespace recpack::remote {

// Returns the first of:
// - the file GOOGLE_APPLICATION_CREDENTIALS;
// - application_default_credentials.json of `gcloud auth application-default login`, in
//   CLOUDSDK_CONFIG or ~/.config/gcloud;
// - the machine's or pod's metadata service (GCE_METADATA_HOST), unless NO_GCE_CHECK is "true".
//
// A file is of one of the types service_account, authorized_user, external_account (workload
// identity federation whose token is in a file or at a URL) and impersonated_service_account.
// Credentials are OAuth 2.0 tokens. A file that cannot be used is an error of the first fetch.
CredentialSource FindGoogleSource(const Environment& environment);

}  // namespace recpack::remote
