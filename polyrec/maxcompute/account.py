"""Who reads and writes tables: from the files and variables that MaxCompute's own tools use, in their order."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from polyrec import runtime
from polyrec.errors import StorageError

WAYS = (
    "ODPS_CONFIG_FILE_PATH (a file with access_id, access_key and end_point), "
    "ALIBABA_CLOUD_ACCESS_KEY_ID and ALIBABA_CLOUD_ACCESS_KEY_SECRET (with ALIBABA_CLOUD_SECURITY_TOKEN for STS), "
    "ALIBABA_CLOUD_CREDENTIALS_URI (a role), or ~/.odps_config.ini"
)
EARLY_SECONDS = 300
"""How long before they end credentials of a role are asked for anew."""
ROLE_VARIABLES = ("ALIBABA_CLOUD_CREDENTIALS_FILE", "ALIBABA_CLOUD_ECS_METADATA")
"""Ways to a role that the package alibabacloud_credentials knows."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What it takes to sign requests; secrets are in no text of it."""

    endpoint: str
    key: str = field(default="", repr=False)
    secret: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    role: str = field(default="", repr=False)
    """URI that gives the credentials of a role, or `client` for those that its own package finds."""

    def account(self) -> Any:
        from odps import accounts

        if self.role == "client":
            from alibabacloud_credentials.client import Client  # type: ignore[import-not-found]

            return accounts.CredentialProviderAccount(Client())
        if self.role:
            return accounts.CredentialProviderAccount(_Role(self.role))
        if self.token:
            return accounts.StsAccount(self.key, self.secret, self.token)
        return accounts.AliyunAccount(self.key, self.secret)


def credentials() -> Credentials:
    given = runtime.maxcompute_settings()
    endpoint = given.get("ODPS_ENDPOINT", "")
    path = given.get("ODPS_CONFIG_FILE_PATH")
    if path:
        return _of_file(Path(path), endpoint)
    role = given.get("ALIBABA_CLOUD_CREDENTIALS_URI", "")
    key, secret = given.get("ALIBABA_CLOUD_ACCESS_KEY_ID", ""), given.get("ALIBABA_CLOUD_ACCESS_KEY_SECRET", "")
    ways = [name for name in ROLE_VARIABLES if given.get(name)]
    if not role and not (key and secret) and ways:
        if find_spec("alibabacloud_credentials") is None:
            raise StorageError(f"{ways[0]} needs the package alibabacloud_credentials; install it with pip")
        role = "client"
    if role or (key and secret):
        if not endpoint:
            raise StorageError("odps:// needs ODPS_ENDPOINT, the address of MaxCompute in the region of the tables")
        return Credentials(endpoint, key, secret, given.get("ALIBABA_CLOUD_SECURITY_TOKEN", ""), role)
    home = Path.home() / ".odps_config.ini"
    if home.is_file():
        return _of_file(home, endpoint)
    raise StorageError(f"odps:// needs credentials, and there are none; set one of: {WAYS}")


def _of_file(path: Path, endpoint: str) -> Credentials:
    """Lines `name=value`; ODPS_ENDPOINT goes before the file's `end_point`."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}; ODPS_CONFIG_FILE_PATH names it") from None
    pairs = (line.partition("=") for line in lines if "=" in line)
    found = {name.strip(): value.strip() for name, _, value in pairs}
    if endpoint:
        found["end_point"] = endpoint
    missing = [name for name in ("access_id", "access_key", "end_point") if not found.get(name)]
    if missing:
        raise StorageError(
            f"{path}: has no {', '.join(missing)}; it needs lines access_id=, access_key= and end_point="
        )
    return Credentials(found["end_point"], found["access_id"], found["access_key"], found.get("sts_token", ""))


class _Role:
    """Credentials that a service hands out for some time."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._ends = 0.0
        self._facts: dict[str, str] = {}

    def get_credential(self) -> _Role:
        if time.time() > self._ends - EARLY_SECONDS:
            self._facts = self._asked()
            text = self._facts.get("Expiration", "")
            self._ends = _seconds(text) if text else time.time() + 2 * EARLY_SECONDS
        return self

    get_credentials = get_credential

    def _asked(self) -> dict[str, str]:
        import requests

        try:
            facts = requests.get(self._uri, timeout=10).json()
        except (requests.RequestException, json.JSONDecodeError) as error:
            # The text of the error would name the address, which may hold a secret.
            raise StorageError(
                f"ALIBABA_CLOUD_CREDENTIALS_URI: gives no credentials ({type(error).__name__})"
            ) from None
        if not isinstance(facts, dict) or not {"AccessKeyId", "AccessKeySecret", "SecurityToken"} <= facts.keys():
            raise StorageError("ALIBABA_CLOUD_CREDENTIALS_URI: gives no credentials")
        return facts

    def get_access_key_id(self) -> str:
        return self._facts["AccessKeyId"]

    def get_access_key_secret(self) -> str:
        return self._facts["AccessKeySecret"]

    def get_security_token(self) -> str:
        return self._facts["SecurityToken"]


def _seconds(text: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(text).timestamp()
