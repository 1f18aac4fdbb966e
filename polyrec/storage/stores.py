"""Which store a URL's scheme stands for, and how it is reached."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from pyarrow import fs

from polyrec import runtime
from polyrec.errors import StorageError, nearest
from polyrec.storage import masked, scheme, split
from polyrec.storage.listing import OF_HOSTS

OPTIONS: dict[str, frozenset[str]] = {
    "s3": frozenset({"endpoint_override", "region", "scheme", "anonymous"}),
    "gs": frozenset({"endpoint_override", "scheme", "anonymous"}),
    "hdfs": frozenset(),
    "viewfs": frozenset(),
    "oss": frozenset(),
}
"""The stores, and the options that their URLs may have."""
PACKAGES = {"oss": "ossfs"}
"""Stores that Arrow reaches through fsspec, and the package that knows each."""
PASSWORD = "a URL must not hold a name or password; give them to the store's environment variables or files instead"


def password_fault(url: str) -> str | None:
    netloc = urlsplit(url).netloc if "[" not in url else url.partition("://")[2].partition("/")[0]
    user, at, _ = netloc.rpartition("@")
    return PASSWORD if at and (scheme(url) not in OF_HOSTS or ":" in user) else None


def fault(url: str) -> str | None:
    kind = scheme(url)
    if kind not in OPTIONS:
        return f"no store is known by {kind}://{nearest(kind, OPTIONS)}; known: {', '.join(sorted(OPTIONS))}, file"
    known = OPTIONS[kind]
    for name, value in _options(url):
        if masked(f"?{name}=x") != f"?{name}=x":
            return PASSWORD
        if name not in known:
            return (
                f"{name} is no option of {kind}://{nearest(name, known)}; known: {', '.join(sorted(known)) or 'none'}"
            )
        if name == "anonymous" and value not in ("true", "false"):
            return "anonymous needs true or false"
    if not _inner(url):
        return "names no bucket"
    return None


def opened(url: str) -> tuple[fs.FileSystem, str]:
    base, _ = split(url)
    kind, parts = scheme(url), urlsplit(base.replace("#", "%23").replace("?", "%3F").replace("[", "%5B"))
    if kind in OF_HOSTS:
        return _hadoop(kind, parts.netloc), unquote(parts.path) or "/"
    endpoint = runtime.object_store_endpoint() if kind == "s3" else None
    bucket = parts.netloc if kind == "s3" and endpoint is None else ""
    return _object_store(kind, bucket, endpoint, tuple(_options(url))), _inner(url)


def _options(url: str) -> list[tuple[str, str]]:
    return parse_qsl(split(url)[1].removeprefix("?"))


def _inner(url: str) -> str:
    """Bucket and key; keys are as they stand, since a per cent sign may belong to one."""
    return split(url)[0].partition("://")[2].strip("/")


@lru_cache(maxsize=64)
def _object_store(kind: str, bucket: str, endpoint: str | None, given: tuple[tuple[str, str], ...]) -> fs.FileSystem:
    options: dict[str, Any] = dict(given)
    options["anonymous"] = options.get("anonymous") == "true"
    if kind in PACKAGES:
        return _by_fsspec(kind)
    if kind == "gs":
        return fs.GcsFileSystem(**options)
    options.setdefault("endpoint_override", endpoint)
    address = options["endpoint_override"]
    if address and "://" in address:
        protocol, _, options["endpoint_override"] = address.partition("://")
        options.setdefault("scheme", protocol)
        options["endpoint_override"] = options["endpoint_override"].rstrip("/")
    if not address and "region" not in options and runtime.object_store_region() is None:
        options["region"] = fs.resolve_s3_region(bucket)
    # A file that is opened when its first bytes are there is sent in one request if it is small.
    return fs.S3FileSystem(allow_delayed_open=True, **options)


@lru_cache(maxsize=64)
def _hadoop(kind: str, netloc: str) -> fs.FileSystem:
    return fs.HadoopFileSystem.from_uri(f"{kind}://{netloc}/")


def _by_fsspec(kind: str) -> fs.FileSystem:
    package = PACKAGES[kind]
    if find_spec(package) is None:
        raise StorageError(f"{kind}:// needs the package {package}; install it: pip install {package}")
    import fsspec

    return fs.PyFileSystem(fs.FSSpecHandler(fsspec.filesystem(kind)))
