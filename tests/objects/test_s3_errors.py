"""What is wrong is said at once, with the variable that mends it, and never with the secret."""

import contextlib
import datetime as dt
import ipaddress
import logging
import socket
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from objects_support import read
from s3_support import free_ports

from kb.errors import NotFound, ObjectChanged, StoreFailed, StoreRefused
from kb.messages import TABLE
from kb.model import ObjectRef
from kb.objects.fetch import fetched
from kb.objects.minio import MinioStore
from kb.ports import S3Options

SECRET = "k9-Secret-that-nobody-may-see"
SECONDS = 8
SOME = ObjectRef("a.txt", 3, "", "", "")


@pytest.fixture(autouse=True)
def _quiet(caplog):
    """Whatever was said, at any level, did not hold a secret."""
    caplog.set_level(logging.DEBUG)
    yield
    assert SECRET not in caplog.text


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def quick(monkeypatch):
    """Retries without their pauses."""
    monkeypatch.setattr("kb.objects.minio._BACKOFF", 0.01)


def options(endpoint, **changes):
    known = {"access_key": "tester", "secret_key": SECRET, "connect_seconds": 2, "read_seconds": 2}
    return S3Options(endpoint, **(known | changes))


def errors(store):
    """What listing, looking, reading and asking for versions say; all within seconds."""
    for call in (
        lambda: list(store.list()),
        lambda: store.stat("a.txt"),
        lambda: read(store, SOME),
        lambda: store.versions("a.txt"),
    ):
        began = time.monotonic()
        with pytest.raises(StoreFailed) as caught:
            call()
        assert time.monotonic() - began < SECONDS
        assert SECRET not in f"{caught.value} {caught.value!r} {caught.value.__cause__!r}"
        yield caught.value


def says(error, *words):
    """Both the message and the remedy are there, in the words of the table."""
    assert error.hint
    return all(word in str(error) for word in words)


@contextlib.contextmanager
def answering(handler, context=None):
    """An HTTP server on loopback that answers by `handler`, over TLS with a `context`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None
    if context:
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def always(status, body, kind="application/xml", **headers):
    """A handler that says the same to everything."""

    class Handler(BaseHTTPRequestHandler):
        timeout = 5

        def answer(self):
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(status)
            for name, value in {"Content-Type": kind, **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_HEAD = do_PUT = answer  # noqa: N815 - http.server's names

        def log_message(self, *args):
            pass

    return Handler


def refusing(status, code):
    return always(status, f"<Error><Code>{code}</Code><Message>m</Message></Error>".encode())


def test_a_wrong_access_key_is_named(s3, bucket):
    store = MinioStore(s3.options(access_key="nobody", secret_key=SECRET), bucket)
    for error in errors(store):
        assert isinstance(error, StoreRefused)
        assert says(error, "MINIO_ACCESS_KEY", s3.endpoint)


def test_a_wrong_secret_key_is_named(s3, bucket):
    store = MinioStore(s3.options(secret_key=SECRET), bucket)
    for error in errors(store):
        assert isinstance(error, StoreRefused)
        assert says(error, "MINIO_SECRET_KEY", s3.endpoint)
        assert s3.secret_key not in str(error)


def test_no_keys_at_all_are_refused(s3, bucket):
    store = MinioStore(s3.options(access_key="", secret_key=""), bucket)
    for error in errors(store):
        assert isinstance(error, StoreRefused)
        assert says(error, "MINIO_ACCESS_KEY")


@pytest.mark.parametrize("region", ["", "us-east-1"])
@pytest.mark.parametrize("name", ["kb-test-there-is-none", "ab", "Not_A:Bucket!", "a/b", "桶"])
def test_a_missing_bucket_is_no_missing_object(s3, bucket, name, region):
    """Else everything that is in the index would seem to be deleted."""
    store = MinioStore(s3.options(region=region), name)
    for error in errors(store):
        assert isinstance(error, StoreRefused)
        assert says(error, "MINIO_BUCKET", name)
    with pytest.raises(StoreRefused), fetched(store, "a.txt", 1):
        pass


def test_a_refused_connection_names_the_endpoint():
    endpoint = f"127.0.0.1:{free_ports(1)[0]}"
    for error in errors(MinioStore(options(endpoint), "bucket")):
        assert not isinstance(error, StoreRefused)
        assert says(error, "MINIO_ENDPOINT", endpoint, "refused")


def test_a_host_that_nobody_knows_names_the_endpoint():
    with pytest.raises(StoreFailed) as caught:
        list(MinioStore(options("no-such-host.invalid:9000"), "bucket").list())
    assert says(caught.value, "MINIO_ENDPOINT", "no-such-host.invalid:9000")


def test_a_server_that_never_answers_is_given_up(quick):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"127.0.0.1:{silent.getsockname()[1]}"
        for error in errors(MinioStore(options(endpoint, read_seconds=0.3), "bucket")):
            assert says(error, endpoint)


def test_tls_to_a_plain_port_names_secure(s3, bucket):
    for error in errors(MinioStore(s3.options(secure=True), bucket)):
        assert isinstance(error, StoreRefused)
        assert says(error, "MINIO_SECURE")


def test_plain_http_to_a_tls_port_names_secure():
    """As servers written in Go say it: MinIO, SeaweedFS."""
    said = b"Client sent an HTTP request to an HTTPS server.\n"
    with answering(always(400, said, "text/plain")) as endpoint:
        for error in errors(MinioStore(options(endpoint, region="us-east-1"), "bucket")):
            assert says(error, "MINIO_SECURE")


def test_plain_http_to_a_tls_port_that_just_hangs_up_is_an_error(certificate):
    with answering(always(200, b""), certificate.context) as endpoint:
        for error in errors(MinioStore(options(endpoint), "bucket")):
            assert says(error, endpoint)


def test_a_certificate_of_ones_own_is_refused_until_it_is_trusted(certificate, monkeypatch, quick):
    listing = (
        b"<ListBucketResult><Name>bucket</Name><IsTruncated>false</IsTruncated></ListBucketResult>"
    )
    with answering(always(200, listing), certificate.context) as endpoint:
        secure = options(endpoint, secure=True, region="us-east-1")
        for error in errors(MinioStore(secure, "bucket")):
            assert isinstance(error, StoreRefused)
            assert says(error, "SSL_CERT_FILE", "certificate")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate.path))
        assert list(MinioStore(secure, "bucket").list()) == []


@pytest.mark.parametrize(
    ("status", "code", "word"),
    [
        (403, "RequestTimeTooSkewed", "NTP"),
        (400, "AuthorizationHeaderMalformed", "MINIO_REGION"),
        (403, "AccessDenied", "s3:ListBucket"),
        (403, "InvalidAccessKeyId", "MINIO_ACCESS_KEY"),
        (403, "SignatureDoesNotMatch", "MINIO_SECRET_KEY"),
        (404, "NoSuchBucket", "MINIO_BUCKET"),
    ],
)
def test_what_a_server_refuses_is_explained(status, code, word):
    with answering(refusing(status, code)) as endpoint:
        store = MinioStore(options(endpoint, region="us-east-1"), "bucket")
        with pytest.raises(StoreRefused) as caught:
            list(store.list())
        assert says(caught.value, word)
        with pytest.raises(StoreRefused):
            read(store, SOME)
        with pytest.raises(StoreRefused):  # HEAD has no body: it may not know which
            store.stat("a.txt")


@pytest.mark.parametrize("code", ["SlowDown", "InternalError", "ServiceUnavailable"])
def test_an_overloaded_server_may_be_asked_again(code, quick):
    with answering(refusing(503, code)) as endpoint:
        for error in errors(MinioStore(options(endpoint, region="us-east-1"), "bucket")):
            assert not isinstance(error, StoreRefused | ObjectChanged | NotFound)
            assert says(error, endpoint, "bucket")


@pytest.mark.parametrize("region", ["", "us-east-1"])
@pytest.mark.parametrize("status", [200, 404, 403, 302])
def test_a_server_that_is_not_s3_is_told_from_one_that_has_nothing(status, region):
    page = b"<!doctype html><html><body><p>It works!<br></body></html>"
    handler = always(status, page, "text/html", Location="/login")
    with answering(handler) as endpoint:
        store = MinioStore(options(endpoint, region=region), "bucket")
        for error in errors(store):
            assert says(error, endpoint)
        with pytest.raises(StoreFailed), fetched(store, "a.txt", 1):
            pass


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_is_ignored_for_this_machine(s3, bucket, monkeypatch, name):
    monkeypatch.setenv(name, f"http://127.0.0.1:{free_ports(1)[0]}")
    s3.put(bucket, "a.txt", b"content")
    assert [ref.key for ref in MinioStore(s3.options(), bucket).list()] == ["a.txt"]


def test_a_proxy_is_used_for_other_machines(monkeypatch):
    with answering(refusing(404, "NoSuchBucket")) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://{proxy}")
        store = MinioStore(options("storage.invalid:9000", region="us-east-1"), "bucket")
        with pytest.raises(StoreRefused, match="MINIO_BUCKET"):
            list(store.list())


def test_options_do_not_show_the_secret():
    assert SECRET not in repr(options("127.0.0.1:9000"))


def test_an_account_in_the_endpoint_is_not_repeated():
    given = options(f"http://tester:{SECRET}@127.0.0.1:9000")
    with pytest.raises(Exception, match="MINIO_ENDPOINT") as caught:
        list(MinioStore(given, "bucket").list())
    assert SECRET not in str(caught.value)


def test_every_message_of_a_store_has_a_remedy():
    told = [key for key in TABLE if key.startswith("store.") and f"{key}.hint" in TABLE]
    assert {"store.bucket", "store.access_key", "store.secret_key", "store.tls"} <= set(told)


class Certificate:
    """Signed by itself, for 127.0.0.1."""

    def __init__(self, folder):
        x509 = pytest.importorskip("cryptography.x509")
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec

        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "kb-test")])
        now = dt.datetime.now(dt.timezone.utc)
        made = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=1))
            .not_valid_after(now + dt.timedelta(days=1))
            .add_extension(
                x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
                critical=False,
            )
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        self.path = folder / "certificate.pem"
        self.path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        private = folder / "key.pem"
        private.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.path, private)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return Certificate(tmp_path_factory.mktemp("tls"))
