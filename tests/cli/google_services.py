"""Google's services of credentials for tests: tokens for service accounts, users and other identities, and metadata.

The service account's key is that of RFC 7515, appendix A.2 (tests/golden/tls/rfc7515_a2.pem).
"""
import base64
import hashlib
import json
import pathlib
import time
import urllib.parse

BEARER = 'ya29.test-token'
ACCOUNT = 'trainer@project.iam.gserviceaccount.com'
KEY = pathlib.Path(__file__).resolve().parent.parent / 'golden/tls/rfc7515_a2.pem'
_MODULUS = int.from_bytes(base64.urlsafe_b64decode(
    'ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMs'
    'D1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdV'
    'MTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ=='), 'big')
_SHA256 = bytes.fromhex('3031300d060960864801650304020105000420')  # DigestInfo of RFC 8017, section 9.2

METADATA = '/computeMetadata/v1/instance/service-accounts/default/token'
TOKEN, SUBJECT, IMPERSONATE = '/google/token', '/google/subject', '/google/impersonate'


def files(url):
    """Contents of credential files by type, for a server at `url`."""
    user = {'type': 'authorized_user', 'client_id': 'id', 'client_secret': 'secret', 'refresh_token': 'refresh',
            'token_uri': url + TOKEN}
    account = {'type': 'service_account', 'client_email': ACCOUNT, 'private_key': KEY.read_text(), 'private_key_id': 'a2',
               'token_uri': url + TOKEN}
    external = {'type': 'external_account', 'audience': '//iam.googleapis.com/a', 'token_url': url + TOKEN,
                'subject_token_type': 'urn:ietf:params:oauth:token-type:jwt',
                'credential_source': {'url': url + SUBJECT, 'headers': {'Metadata': 'True'},
                                      'format': {'type': 'json', 'subject_token_field_name': 'value'}}}
    impersonated = {'type': 'impersonated_service_account', 'source_credentials': account,
                    'service_account_impersonation_url': url + IMPERSONATE, 'delegates': ['a']}
    return {'user': user, 'account': account, 'external': external,
            'external that acts': {**external, 'service_account_impersonation_url': url + IMPERSONATE},
            'impersonated': impersonated}


def _decode(text):
    return base64.urlsafe_b64decode(text + '=' * (-len(text) % 4))


def _refusal_of_assertion(assertion, audience):
    """What is wrong with a JSON Web Token (RFC 7523); None: nothing."""
    signed, _, signature = assertion.rpartition('.')
    digest = _SHA256 + hashlib.sha256(signed.encode()).digest()
    wanted = b'\0\1' + b'\xff' * (256 - 3 - len(digest)) + b'\0' + digest
    if pow(int.from_bytes(_decode(signature), 'big'), 65537, _MODULUS) != int.from_bytes(wanted, 'big'):
        return 'Invalid JWT Signature.'
    header, claims = (json.loads(_decode(part)) for part in signed.split('.'))
    if header != {'alg': 'RS256', 'typ': 'JWT', 'kid': 'a2'}:
        return 'another header'
    if claims['iss'] != ACCOUNT or claims['aud'] != audience or not claims['scope'].startswith('https://'):
        return 'another account'
    return None if claims['iat'] <= time.time() + 1 < claims['exp'] <= claims['iat'] + 3600 else 'another time'


def answer(url, path, headers, body, valid):
    """Status and JSON of the answer; None: it is no request for these services. `valid`: seconds that tokens are."""
    given = {'access_token': BEARER, 'expires_in': valid, 'token_type': 'Bearer'}
    if path == METADATA:
        return (200, given) if headers.get('Metadata-Flavor') == 'Google' else (403, {})
    if path == SUBJECT:
        return (200, {'value': 'subject'}) if headers.get('Metadata') == 'True' else (403, {})
    if path == IMPERSONATE:
        asked = json.loads(body)
        if headers.get('Authorization') != f'Bearer {BEARER}' or not asked['scope']:
            return 403, {'error': {'message': 'denied'}}
        end = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(time.time() + valid))
        return 200, {'accessToken': BEARER, 'expireTime': end}
    if path != TOKEN:
        return None
    form = dict(urllib.parse.parse_qsl(body.decode()))
    kind = form.pop('grant_type').rpartition(':')[2]
    if kind == 'jwt-bearer':
        wrong = _refusal_of_assertion(form['assertion'], url + TOKEN)
    elif kind == 'refresh_token':
        wrong = None if form == {'client_id': 'id', 'client_secret': 'secret', 'refresh_token': 'refresh'} else 'expired'
    else:
        wrong = None if kind == 'token-exchange' and form['subject_token'] == 'subject' else 'another token'
    return (200, given) if wrong is None else (400, {'error': 'invalid_grant', 'error_description': wrong})
