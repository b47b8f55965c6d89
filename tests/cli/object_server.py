"""Object server for tests: a web server with ranges, and an S3 store that checks signatures, with seeded faults.

Paths below /web/ are files, without credentials. /latest/ is an instance's metadata service, /container a
container's, and POST / the token service; google_services.py has Google's. Others are /BUCKET/KEY of the S3
interface: objects, multipart uploads and ListObjectsV2, signed by ACCESS and SECRET with Signature Version 4, as AWS
and Google document it, or sent with BEARER. Folders of the disk are buckets and prefixes.
"""
import contextlib
import functools
import hashlib
import hmac
import http.server
import json
import pathlib
import random
import re
import socket
import ssl
import struct
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

import google_services
from planted_link import Link

ACCESS, SECRET, TOKEN, REGION = 'TESTKEY', 'test/secret+key', 'test/token==', 'eu-central-1'
FAULTS = ('cut', '503', '500', 'reset', 'wrong_range', 'truncated', 'corrupt')
ROLE = 'arn:aws:iam::1:role/trainer'  # which ACCESS may assume
STALL = 5  # seconds without an answer, for the fault 'stall'


class Faults:
    """Draws a fault for a share of the requests; counts them by kind."""

    def __init__(self, share=0.0, seed=0, kinds=FAULTS):
        self.share, self.kinds, self.counts = share, kinds, {}
        self._random, self._lock = random.Random(seed), threading.Lock()

    def draw(self):
        with self._lock:
            if self._random.random() >= self.share:
                return None
            kind = self._random.choice(self.kinds)
            self.counts[kind] = self.counts.get(kind, 0) + 1
            return kind


class ObjectServer:
    """Serves a folder on a free port of the loopback device until close()."""

    # Whether the last N bytes are refused of an object that has fewer, as by some stores.
    strict_suffix = False
    region = REGION
    # What becomes of requests to copy: 'done', 'not implemented', or 'unknown', to stores that see a PUT of nothing.
    copies = 'done'
    # Seconds that credentials of the services are valid for.
    valid = 3600
    # Status, code and headers of the next answers to requests that are signed.
    planted = ()
    # Whether files of the web server need a query with a signature.
    presigned = False
    # Whether each answer of the services has a token of its own, which is refused when it has expired.
    renews = False
    # Who must pay for requests: 'requester', or a project of Google's; None: nobody.
    payer = None

    def after_listing(self, prefix):
        """Called before the last page of a listing is sent."""

    def __init__(self, folder, faults=None, delay=0.0, link=None, certificate=None):
        """`certificate`: a PEM file with a key; the server then speaks TLS."""
        self.folder, self.faults, self.delay = pathlib.Path(folder), faults or Faults(), delay
        self.link = link or Link()  # of the objects that are read
        self.requests = []  # (method, path, range)
        self.uploads = {}  # key and parts, by upload id
        self.tokens = {}  # when they end, by what the services gave
        self.writing = threading.Lock()
        self.counting = threading.Lock()
        self.at_once = self.most_at_once = 0  # requests to read
        handler = type('Handler', (_Handler,), {'of': self})
        self._server = _Server(('127.0.0.1', 0), handler)
        self._server.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f'{"https" if certificate else "http"}://127.0.0.1:{self._server.server_port}'
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def environment(self):
        """Returns the environment of a client of the S3 interface."""
        return {'AWS_ACCESS_KEY_ID': ACCESS, 'AWS_SECRET_ACCESS_KEY': SECRET, 'AWS_REGION': REGION,
                'AWS_ENDPOINT_URL': self.url}

    def given(self, token_name):
        """Credentials of the services, as JSON."""
        ends = int(time.time() + self.valid)
        token = f'{TOKEN}{len(self.tokens)}' if self.renews else TOKEN
        self.tokens[token] = ends
        return json.dumps({'Code': 'Success', 'AccessKeyId': ACCESS, 'SecretAccessKey': SECRET, token_name: token,
                           'Expiration': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(ends))}).encode()

    @contextlib.contextmanager
    def delayed(self):
        with self.counting:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        yield
        with self.counting:
            self.at_once -= 1

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class _Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """Clients may go at any time."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True
    wbufsize = -1  # an answer is sent at once
    of: ObjectServer

    def log_message(self, *_):
        pass

    def fails(self, fault):
        """Tells whether the fault was the answer."""
        if fault in ('500', '503'):
            self.send(int(fault), _error('SlowDown', 'faulty on purpose'), {'Retry-After': '0'})
        elif fault == 'reset':
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            self.connection.close()
            self.close_connection = True
        return fault in ('500', '503', 'reset')

    def do_GET(self):
        self.of.requests.append((self.command, self.path, self.headers.get('Range')))
        with self.of.delayed():
            time.sleep(self.of.delay)
            if self.of.link.refuses():
                return self.send(503, _error('SlowDown', 'too many requests'))
        fault = self.of.faults.draw()
        if self.fails(fault):
            return None
        if fault == 'stall':
            time.sleep(STALL)
        parts = urllib.parse.urlsplit(self.path)
        if parts.path.startswith('/latest/meta-data/iam/security-credentials/'):
            if self.headers.get('x-aws-ec2-metadata-token') != 'session':
                return self.send(401, b'')
            return self.send(200, self.of.given('Token') if parts.path.endswith('a-role') else b'a-role')
        if self.is_googles(b''):
            return None
        if parts.path == '/container':
            return self.send(200 if self.headers.get('Authorization') == 'pass' else 401, self.of.given('Token'))
        if parts.path.startswith('/web/'):
            if self.of.presigned and 'X-Amz-Signature' not in parts.query:
                return self.send(403, _error('AccessDenied', 'it is not signed'))
            return self.send_file(urllib.parse.unquote(parts.path[5:]), fault)
        if refused := self.refusal(parts):
            return self.send(*refused)
        bucket, _, key = urllib.parse.unquote(parts.path[1:]).partition('/')
        if not bucket:
            names = ''.join(f'<Bucket><Name>{path.name}</Name></Bucket>' for path in self.of.folder.iterdir() if path.is_dir())
            return self.send(200, f'<R><Buckets>{names}</Buckets></R>'.encode())
        if not (self.of.folder / bucket).is_dir():
            return self.send(404, _error('NoSuchBucket', 'there is none'))
        query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        if 'uploads' in query:
            return self.send_uploads(bucket, query['prefix'])
        if not key:
            return self.send_listing(bucket, query)
        return self.send_file(f'{bucket}/{key}', fault)

    def body(self):
        return self.rfile.read(int(self.headers.get('Content-Length', 0)))

    def do_PUT(self):
        self.of.requests.append((self.command, self.path, None))
        body = self.body()
        if self.path.startswith('/latest/'):
            is_token = self.path == '/latest/api/token' and 'x-aws-ec2-metadata-token-ttl-seconds' in self.headers
            return self.send(200, b'session') if is_token else self.send(404, b'')
        return self.write(body)

    def do_DELETE(self):
        self.of.requests.append((self.command, self.path, None))
        return self.write(b'')

    def write(self, body):
        """PUT and DELETE of an object, and the requests of a multipart upload; some do all and then lose the answer."""
        time.sleep(self.of.delay)
        fault = self.of.faults.draw()
        parts = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        if self.headers.get('Content-Type', '').startswith('application/x-www-form'):
            body = b''  # it is parsed as a form
        if refused := self.refusal(parts):
            return self.send(*refused)
        if hashlib.sha256(body).hexdigest() != self.extension('content-sha256', hashlib.sha256(body).hexdigest()):
            return self.send(400, _error('XAmzContentSHA256Mismatch', 'another body'))
        name = urllib.parse.unquote(parts.path[1:])
        if not (self.of.folder / name.partition('/')[0]).is_dir():
            return self.send(404, _error('NoSuchBucket', 'there is none'))
        if fault in ('500', '503') and self.fails(fault):
            return None
        if fault == 'late_error' and self.extension('copy-source'):
            return self.send(200, _error('InternalError', 'the copy began and failed'))
        with self.of.writing:
            answer = self.written(name, query, body)
        if fault in ('reset', 'cut'):
            return self.fails('reset')
        return self.send(*answer)

    def written(self, name, query, body):
        """Status, body and headers of the answer."""
        uploads, key, method = self.of.uploads, query.get('uploadId'), self.command
        if key is not None and uploads.get(key, {}).get('name') != name:
            return 404, _error('NoSuchUpload', 'there is none')
        if method == 'PUT' and key is not None:
            uploads[key]['parts'][int(query['partNumber'])] = body
            return 200, b'', {'ETag': f'"{hashlib.md5(body).hexdigest()}"'}
        if method == 'DELETE' and key is not None:
            del uploads[key]
            return 204, b''
        path = self.of.folder / name
        if method == 'DELETE':
            path.unlink(missing_ok=True)
            return 204, b''
        if 'uploads' in query:
            key = f'upload-{len(uploads)}-{time.monotonic_ns()}'
            uploads[key] = {'name': name, 'parts': {}}
            return 200, f'<R><UploadId>{key}</UploadId></R>'.encode()
        if self.headers.get('If-None-Match') == '*' and path.exists():
            return 412, _error('PreconditionFailed', 'there is one')
        if 'If-Match' in self.headers and not path.exists():
            return 404, _error('NoSuchKey', 'there is none')
        if 'If-Match' in self.headers and f'"{hashlib.md5(path.read_bytes()).hexdigest()}"' != self.headers['If-Match']:
            return 412, _error('PreconditionFailed', 'another version')
        if self.headers.get('x-goog-if-generation-match', generation(path)) != generation(path):
            return 412, _error('PreconditionFailed', 'another generation')
        if method == 'POST':
            parts = uploads[key]['parts']
            wanted = re.findall(r'<PartNumber>(\d+)</PartNumber><ETag>([^<]*)</ETag>', body.decode())
            if [(str(number), f'"{hashlib.md5(part).hexdigest()}"') for number, part in sorted(parts.items())] != wanted:
                return 400, _error('InvalidPart', 'other parts were sent')
            if any(len(parts[int(number)]) < 5 << 20 for number, _ in wanted[:-1]):
                return 400, _error('EntityTooSmall', 'a part is too small')
            body = b''.join(parts[int(number)] for number, _ in wanted)
            del uploads[key]
        text = b'<R></R>'
        if self.extension('copy-source') and self.of.copies != 'unknown':
            source = self.of.folder / urllib.parse.unquote(self.extension('copy-source')[1:])
            if self.of.copies == 'not implemented':
                return 501, _error('NotImplemented', 'it knows no copies')
            if not source.is_file():
                return 404, _error('NoSuchKey', 'there is none')
            body = source.read_bytes()
            text = f'<CopyObjectResult><ETag>"{hashlib.md5(body).hexdigest()}"</ETag></CopyObjectResult>'.encode()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
        return 200, text, {'ETag': f'"{hashlib.md5(body).hexdigest()}"'}

    def send_uploads(self, bucket, prefix):
        found = ''.join(f'<Upload><Key>{escape(urllib.parse.quote_plus(upload["name"].partition("/")[2], safe="/"))}</Key>'
                        f'<UploadId>{key}</UploadId></Upload>' for key, upload in self.of.uploads.items()
                        if upload['name'].startswith(f'{bucket}/{prefix}'))
        return self.send(200, f'<R>{found}<IsTruncated>false</IsTruncated></R>'.encode())

    def do_POST(self):
        self.of.requests.append((self.command, self.path, None))
        body = self.body()
        if self.is_googles(body):
            return None
        if self.path != '/':
            return self.write(body)
        form = dict(urllib.parse.parse_qsl(body.decode()))
        if form.get('Action') == 'AssumeRole':
            refused = self.refusal(urllib.parse.urlsplit(self.path), body)
            if refused or form['RoleArn'] != ROLE or form.get('ExternalId') != 'external':
                return self.send(*(refused or (403, _error('AccessDenied', 'another role'))))
        elif form.get('Action') != 'AssumeRoleWithWebIdentity' or form.get('WebIdentityToken') != 'web/token+':
            return self.send(403, _error('AccessDenied', 'another token'))
        members = ''.join(f'<{name}>{value}</{name}>' for name, value in json.loads(self.of.given('SessionToken')).items())
        return self.send(200, f'<R><Credentials>{members}</Credentials></R>'.encode())

    def is_googles(self, body):
        """Answers requests for Google's services; tells whether this was one."""
        answer = google_services.answer(self.of.url, self.path, self.headers, body, self.of.valid)
        if answer:
            self.send(answer[0], json.dumps(answer[1]).encode(), {'Metadata-Flavor': 'Google'})
        return answer is not None

    def extension(self, name, default=None):
        """Value of a header that Amazon and Google name alike."""
        return self.headers.get(f'x-amz-{name}', self.headers.get(f'x-goog-{name}', default))

    def refusal(self, parts, body=None):
        """Status and body of the answer to a request that is not signed right; None if it is."""
        prefixes = {name.lower()[:6] for name in self.headers}
        if {'x-amz-', 'x-goog'} <= prefixes:
            return 400, _error('ExcessHeaderValues', 'headers of Amazon and of Google')
        if body is None and self.of.payer not in (
                None, self.headers.get('x-amz-request-payer'), self.headers.get('x-goog-user-project')):
            return 400, _error('UserProjectMissing', 'the requester pays')
        authorization = self.headers.get('Authorization', '')
        if authorization.startswith('Bearer '):
            is_right = authorization == f'Bearer {google_services.BEARER}' and 'x-amz-' not in prefixes
            return None if is_right else (401, _error('AuthenticationRequired', 'another token'))
        with self.of.counting:
            if self.of.planted:
                (status, code, headers), *self.of.planted = self.of.planted
                return status, _error(code, 'planted'), headers
        refused = self.refusal_of_signature(parts, authorization, body)
        if not refused:
            return None
        region = f'<Region>{self.of.region}</Region>' if refused[0] == 'AuthorizationHeaderMalformed' else ''
        return (400 if refused[0] in _BAD_REQUESTS else 403), _error(*refused, region)

    def refusal_of_signature(self, parts, authorization, body):
        """Code and message for a wrong signature; None for the right one. `body`: of a service that has no header
        with its hash."""
        given = re.fullmatch(r'(AWS4|GOOG4)-HMAC-SHA256 Credential=([^/]+)/(\d+)/([^/]+)/(s3|sts|storage)/(aws|goog)4_request, '
                             r'SignedHeaders=([^,]+), Signature=([0-9a-f]{64})', authorization)
        if not given:
            return 'AccessDenied', 'the request is not signed'
        version, access, day, region, service, owner, names, signature = given.groups()
        wanted = ('GOOG4', 'storage', 'goog') if version == 'GOOG4' else ('AWS4', 's3' if body is None else 'sts', 'aws')
        if (version, service, owner) != wanted:
            return 'AuthorizationHeaderMalformed', 'it is for two services'
        if access != ACCESS:
            return 'InvalidAccessKeyId', 'there is no such key'
        if region != ('auto' if owner == 'goog' else self.of.region):
            return 'AuthorizationHeaderMalformed', f'the region is {self.of.region}'
        token = self.headers.get('x-amz-security-token', TOKEN)
        if token != TOKEN and token not in self.of.tokens:
            return 'InvalidToken', 'another session'
        if self.of.renews and self.of.tokens.get(token, 0) <= time.time():
            return 'ExpiredToken', 'its time is over'
        signed = [name for name in self.headers if name.lower().startswith(('x-amz-', 'x-goog-'))]
        extension = 'x-goog-' if owner == 'goog' else 'x-amz-'
        if any(not name.lower().startswith(extension) or name.lower() not in names.split(';') for name in signed):
            return 'AccessDenied', 'a header is not signed'
        stamp = self.headers[f'{extension}date']
        query = '&'.join(sorted(f'{urllib.parse.quote(name, safe="-_.~")}={urllib.parse.quote(value, safe="-_.~")}'
                                for name, value in urllib.parse.parse_qsl(parts.query, keep_blank_values=True)))
        headers = ''.join(f'{name}:{" ".join(self.headers[name].split())}\n' for name in names.split(';'))
        canonical = '\n'.join([self.command, parts.path, query, headers, names,
                               self.headers[f'{extension}content-sha256'] if body is None else
                               hashlib.sha256(body).hexdigest()])
        text = '\n'.join([f'{version}-HMAC-SHA256', stamp, f'{day}/{region}/{service}/{owner}4_request',
                          hashlib.sha256(canonical.encode()).hexdigest()])
        key = f'{version}{SECRET}'.encode()
        for part in (day, region, service, f'{owner}4_request'):
            key = hmac.digest(key, part.encode(), 'sha256')
        if hmac.digest(key, text.encode(), 'sha256').hex() != signature:
            return 'SignatureDoesNotMatch', 'the signature is wrong'
        return None

    def send_listing(self, bucket, query):
        folder = self.of.folder / bucket / query.get('prefix', '')
        if not folder.is_dir():
            return self.send(200, b'<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>')
        if 'delimiter' in query:
            names = sorted(path.name + '/' * path.is_dir() for path in folder.iterdir())
        else:
            names = sorted(str(path.relative_to(folder)) for path in folder.rglob('*') if path.is_file())
        begin = int(query.get('continuation-token', 0))
        some = names[begin:begin + 2]  # small pages
        more = begin + 2 < len(names)
        contents = ''
        for name in some:
            key = escape(urllib.parse.quote_plus(query.get('prefix', '') + name, safe='/'))
            if name.endswith('/'):
                contents += f'<CommonPrefixes><Prefix>{key}</Prefix></CommonPrefixes>'
            else:
                size = (folder / name).stat().st_size
                contents += f'<Contents><Key>{key}</Key><Size>{size}</Size></Contents>'
        token = f'<NextContinuationToken>{begin + 2}</NextContinuationToken>' if more else ''
        if not more:
            self.of.after_listing(query.get('prefix', ''))
        return self.send(200, f'<?xml version="1.0"?><ListBucketResult>{contents}{token}'
                              f'<IsTruncated>{str(more).lower()}</IsTruncated></ListBucketResult>'.encode())

    def send_file(self, name, fault):
        path = self.of.folder / name
        if not path.is_file():
            return self.send(404, _error('NoSuchKey', 'there is none'))
        status = path.stat()
        data, etag = _read(path, status.st_mtime_ns, status.st_size)
        if self.headers.get('If-Match', etag) != etag:
            return self.send(412, _error('PreconditionFailed', 'another version'))
        if self.headers.get('If-None-Match') == etag:
            return self.send(304, b'', {'ETag': etag})
        wanted = re.fullmatch(r'bytes=(\d*)-(\d*)', self.headers.get('Range', ''))
        if not wanted:
            return self.send(200, data, {'ETag': etag, 'x-goog-generation': generation(path)}, fault)
        first, last = wanted.groups()
        if self.of.strict_suffix and not first and int(last) > len(data):
            return self.send(416, b'')
        begin = int(first) if first else max(0, len(data) - int(last))
        end = min(int(last) + 1, len(data)) if first and last else len(data)
        if begin >= len(data):
            return self.send(416, b'', {'Content-Range': f'bytes */{len(data)}'})
        if fault == 'wrong_range' and begin > 0:
            begin, end = begin - 1, end - 1
        return self.send(206, data[begin:end], {'ETag': etag, 'x-goog-generation': generation(path),
                                                'Content-Range': f'bytes {begin}-{end - 1}/{len(data)}'}, fault)

    def send(self, status, body, headers=(), fault=None):
        if fault == 'corrupt' and body:
            body = body[:-1] + bytes([body[-1] ^ 1])
        if fault == 'truncated':
            body = body[:len(body) // 2]
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.of.link.send(self.wfile, body[:len(body) // 2] if fault == 'cut' else body)
        if fault == 'cut':
            self.close_connection = True


def generation(path):
    """Generation of an object, as Google's store counts them; 0: there is none."""
    return str(path.stat().st_mtime_ns) if path.exists() else '0'


@functools.lru_cache(maxsize=16)
def _read(path, _changed_at, _size):
    """Returns a file's bytes and ETag."""
    data = path.read_bytes()
    return data, f'"{hashlib.md5(data).hexdigest()}"'


# As AWS sends them, while it refuses access with 403.
_BAD_REQUESTS = 'AuthorizationHeaderMalformed', 'ExpiredToken', 'InvalidToken'


def _error(code, message, more=''):
    return f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>{message}</Message>{more}</Error>'.encode()
