"""gs:// with each kind of Google's credentials: reading, packing and copies, and what is said where they fail."""
import json
import unittest

import google_services
from object_server import ACCESS, SECRET
from store_case import StoreCase
from support import CIFAR

SOURCE = CIFAR / 'cifar-10-batches-py'
URL = 'gs://bucket/data'
FILE = 'the file of GOOGLE_APPLICATION_CREDENTIALS'


class Google(StoreCase):
    def setUp(self):
        super().setUp()
        (self.folder / 'bucket').mkdir()
        self.server = self.serve()
        self.env = {'RECPACK_CACHE': str(self.folder / 'cache'), 'RECPACK_GS_ENDPOINT': self.server.url,
                    'HOME': str(self.folder), 'GCE_METADATA_HOST': 'localhost:9'}
        for name in ('GS_ACCESS_KEY_ID', 'GS_SECRET_ACCESS_KEY', 'STORAGE_EMULATOR_HOST', 'RECPACK_GS_ANONYMOUS',
                     'GOOGLE_APPLICATION_CREDENTIALS', 'CLOUDSDK_CONFIG', 'NO_GCE_CHECK', 'GOOGLE_CLOUD_QUOTA_PROJECT'):
            self.env[name] = ''

    def write(self, content):
        path = self.folder / 'credentials.json'
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return {**self.env, 'GOOGLE_APPLICATION_CREDENTIALS': str(path)}

    def packs(self, env):
        """Packs, appends and reads; the server checks each request."""
        self.run_recpack('pack', SOURCE, URL, '--shard-size', '20KB', env=env)
        self.run_recpack('pack', SOURCE, URL, '--append', '--shuffle', 2, env=env)
        self.assertEqual(self.json('ls', URL, env=env)['splits']['train']['records'], 128)
        self.assertIn('all is well', self.run_recpack('verify', URL, env=env).stdout)


class Sources(Google):
    def test_keys(self):
        self.packs({**self.env, 'GS_ACCESS_KEY_ID': ACCESS, 'GS_SECRET_ACCESS_KEY': SECRET})

    def test_a_service_account(self):
        self.packs(self.write(google_services.files(self.server.url)['account']))

    def test_other_files(self):
        self.run_recpack('pack', SOURCE, self.folder / 'bucket/data')
        for kind, content in google_services.files(self.server.url).items():
            with self.subTest(kind):
                self.run_recpack('ls', URL, env=self.write(content))

    def test_a_token_of_another_provider_in_a_file(self):
        self.run_recpack('pack', SOURCE, self.folder / 'bucket/data')
        (self.folder / 'subject').write_text('subject\n')
        content = google_services.files(self.server.url)['external']
        content['credential_source'] = {'file': str(self.folder / 'subject')}
        self.run_recpack('ls', URL, env=self.write(content))

    def test_the_file_of_gcloud(self):
        self.run_recpack('pack', SOURCE, self.folder / 'bucket/data')
        content = json.dumps(google_services.files(self.server.url)['user'])
        for folder, env in ('.config/gcloud', {}), ('other', {'CLOUDSDK_CONFIG': str(self.folder / 'other')}):
            (self.folder / folder).mkdir(parents=True)
            path = self.folder / folder / 'application_default_credentials.json'
            path.write_text(content)
            self.run_recpack('ls', URL, env={**self.env, **env})
            path.unlink()

    def test_the_project_that_pays(self):
        self.server.payer = 'payer'
        user = google_services.files(self.server.url)['user']
        keys = {**self.env, 'GS_ACCESS_KEY_ID': ACCESS, 'GS_SECRET_ACCESS_KEY': SECRET}
        self.packs(self.write({**user, 'quota_project_id': 'payer'}))
        for env in (keys, self.write({**user, 'quota_project_id': 'other'})):
            self.run_recpack('ls', URL, env={**env, 'GOOGLE_CLOUD_QUOTA_PROJECT': 'payer'})
            self.fails('ls', URL, env=env, saying='UserProjectMissing')

    def test_the_machines_account(self):
        self.run_recpack('pack', SOURCE, self.folder / 'bucket/data')
        env = {**self.env, 'GCE_METADATA_HOST': self.server.url.removeprefix('http://')}
        self.run_recpack('ls', URL, env=env)
        self.fails('ls', URL, env={**env, 'NO_GCE_CHECK': 'true'}, saying='no credentials were found')
        self.fails('ls', URL, env=self.env, saying='no credentials were found')  # the service is not there

    def test_tokens_are_renewed_before_they_expire(self):
        self.run_recpack('pack', SOURCE, self.folder / 'bucket/data')
        env = self.write(google_services.files(self.server.url)['user'])
        for valid, renewed in (3600, False), (200, True):
            self.server.valid = valid
            del self.server.requests[:]
            self.run_recpack('ls', URL, env=env)
            asked = [path for _, path, _ in self.server.requests].count(google_services.TOKEN)
            self.assertEqual(asked > 1, renewed, valid)


class Refused(Google):
    def test_files_that_give_no_token(self):
        files = google_services.files(self.server.url)
        for content, saying in (
                ('', 'it is no JSON object'),
                ({'type': 'other'}, "its type is 'other'"),
                ({**files['account'], 'private_key': 'none'}, 'the private key is no RSA key'),
                ({**files['account'], 'client_email': 'another'}, 'invalid_grant: another account'),
                ({**files['account'], 'client_email': ''}, 'it has no client_email'),
                ({**files['user'], 'refresh_token': 'old'}, 'HTTP status 400: invalid_grant: expired'),
                ({**files['external'], 'credential_source': {'executable': {}}}, 'has no file and no url'),
                ({**files['impersonated'], 'source_credentials': {'type': 'x'}}, "are of type 'x'")):
            with self.subTest(saying):
                self.fails('ls', URL, env=self.write(content),
                           saying=[FILE, 'gave no credentials', saying, 'RECPACK_GS_ANONYMOUS'])

    def test_a_file_that_is_not_there(self):
        self.fails('ls', URL, env={**self.env, 'GOOGLE_APPLICATION_CREDENTIALS': '/nowhere/key.json'},
                   saying='/nowhere/key.json')

    def test_secrets_are_not_shown(self):
        files = google_services.files(self.server.url)
        for content in files['account'], files['user']:
            done = self.run_recpack('ls', 'gs://nobucket/data', env=self.write(content), code=2)
            self.assertIn('no such bucket', done.stderr)
            for secret in google_services.BEARER, 'refresh', 'PRIVATE KEY':
                self.assertNotIn(secret, done.stderr)

    def test_tokens_do_not_go_over_plain_http_to_others(self):
        env = self.write(google_services.files(self.server.url)['user'])
        self.fails('ls', URL, env={**env, 'RECPACK_GS_ENDPOINT': 'http://store.example'},
                   saying=['credentials would go over plain HTTP', 'RECPACK_ALLOW_HTTP'])

    def test_anonymous_on_request(self):
        env = self.write(google_services.files(self.server.url)['user'])
        self.fails('ls', URL, env={**env, 'RECPACK_GS_ANONYMOUS': '1'}, saying='the request was anonymous')
        self.assertNotIn(('POST', google_services.TOKEN, None), self.server.requests)


if __name__ == '__main__':
    unittest.main()
