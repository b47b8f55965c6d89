// Sources of credentials for s3://, as AWS's tools look for them.
#pragma once

#include "src/remote/identity/credential_source.h"

namespace recpack::remote {

// Returns the first of:
// - the profile's role, by AssumeRole of STS (AWS_ENDPOINT_URL_STS), or by
//   AssumeRoleWithWebIdentity;
// - the profile's `credential_process`, whose output is the JSON of its documentation;
// - AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN (and AWS_ROLE_SESSION_NAME), as Kubernetes sets
//   them: AssumeRoleWithWebIdentity of STS (AWS_ENDPOINT_URL_STS);
// - AWS_CONTAINER_CREDENTIALS_FULL_URI or _RELATIVE_URI, with AWS_CONTAINER_AUTHORIZATION_TOKEN or
//   _TOKEN_FILE: containers of ECS and EKS;
// - the instance's metadata service, version 2 (AWS_EC2_METADATA_SERVICE_ENDPOINT), unless
//   AWS_EC2_METADATA_DISABLED is "true".
CredentialSource FindAwsSource(const StoreSettings& settings, const Environment& environment);

}  // namespace recpack::remote
