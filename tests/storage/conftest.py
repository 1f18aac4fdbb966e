"""An S3 store on this machine, by moto, and the variables that point to it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import boto3
import pytest
from moto.server import ThreadedMotoServer

SECRET = "a-secret-that-must-stay-one"
_numbers = itertools.count()


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(address: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """URL of an empty bucket."""
    name = f"bucket-{next(_numbers)}"
    monkeypatch.setenv("AWS_ENDPOINT_URL", address)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "someone")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    boto3.client("s3", endpoint_url=address).create_bucket(Bucket=name)
    return f"s3://{name}"


@pytest.fixture
def keys(address: str, bucket: str):
    """What the bucket holds, as another client of the store sees it."""
    client = boto3.client("s3", endpoint_url=address)

    def found(prefix: str = "") -> dict[str, int]:
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket.removeprefix("s3://"), Prefix=prefix)
        # Keys that end in a slash stand for folders.
        return {item["Key"]: item["Size"] for page in pages for item in page.get("Contents", ())
                if not item["Key"].endswith("/")}  # fmt: skip

    return found
