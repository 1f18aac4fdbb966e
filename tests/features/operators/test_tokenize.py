"""Real tokenizers of both packages, made here."""

from __future__ import annotations

import builtins
import importlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sentencepiece
import tokenizers
from tokenizers import models, pre_tokenizers, processors, trainers

from polyrec.errors import ConfigError
from polyrec.features import _tokenizer_files
from polyrec.features._tokenizer_files import num_tokens
from polyrec.features.operators.tokenize import Tokenize

WORDS = ["the quick brown fox", "the lazy dog", "a quick dog", "fox and dog and fox", "größe 中文"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A tokenizer of each form: byte-pair encoding, and a unigram model."""
    folder = tmp_path_factory.mktemp("tokenizers")
    tokenizer = tokenizers.Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(WORDS, trainers.BpeTrainer(vocab_size=60, special_tokens=["[UNK]", "[CLS]"]))
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A", special_tokens=[("[CLS]", 1)])
    tokenizer.add_tokens(["blue"])
    tokenizer.enable_padding()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "words.txt").write_text("\n".join(WORDS * 3), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "words.txt"),
        model_prefix=str(folder / "pieces"),
        vocab_size=40,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return {"tokenizers": str(folder / "tokenizer.json"), "sentencepiece": str(folder / "pieces.model")}


FORMS = ("tokenizers", "sentencepiece")


def tokenized(files: dict[str, str], form: str, column: Any) -> pa.Array:
    operator = Tokenize.model_validate({"column": "c", "file": files[form], "form": form})
    return operator.apply(pa.record_batch({"c": column if isinstance(column, pa.Array) else pa.array(column)}))


def by_itself(files: dict[str, str], form: str, text: str) -> list[int]:
    """What the package says of the one text."""
    if form == "sentencepiece":
        return sentencepiece.SentencePieceProcessor(model_file=files[form]).encode(text)
    return tokenizers.Tokenizer.from_file(files[form]).encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("form", FORMS)
def test_each_text_is_cut_as_if_alone(files: dict[str, str], form: str) -> None:
    """No special tokens, and no filling up to the longest text of the batch."""
    texts = ["the fox", "a dog and a quick brown fox", "the fox", "xyz 萬", "中文"]
    out = tokenized(files, form, texts)
    assert out.type == pa.list_(pa.int64())
    assert out.to_pylist() == [by_itself(files, form, text) for text in texts]
    assert len({tuple(ids) for ids in out.to_pylist()}) == 4


@pytest.mark.parametrize("form", FORMS)
def test_missing_texts_lists_and_numbers(files: dict[str, str], form: str) -> None:
    fox, dog = by_itself(files, form, "fox"), by_itself(files, form, "dog")
    assert tokenized(files, form, ["fox", None, "", "dog"]).to_pylist() == [fox, None, None, dog]
    assert tokenized(files, form, [["fox", "dog"], [], ["dog", None]]).to_pylist() == [[fox, dog], [], [dog, None]]
    assert tokenized(files, form, pa.array([], pa.string())).to_pylist() == []
    assert tokenized(files, form, pa.array(["dog", "fox", "fox"]).dictionary_encode().slice(1)).to_pylist() == [
        fox,
        fox,
    ]
    assert tokenized(files, form, pa.array(["dog", "fox"], pa.large_string()).slice(1)).to_pylist() == [fox]
    assert tokenized(files, form, [7]).to_pylist() == [by_itself(files, form, "7")]


def test_the_number_of_ids_is_in_the_file(files: dict[str, str]) -> None:
    found = tokenizers.Tokenizer.from_file(files["tokenizers"])
    assert num_tokens(files["tokenizers"], "tokenizers") == found.get_vocab_size(with_added_tokens=True)
    assert found.token_to_id("blue") == found.get_vocab_size() - 1
    pieces = sentencepiece.SentencePieceProcessor(model_file=files["sentencepiece"])
    assert num_tokens(files["sentencepiece"], "sentencepiece") == pieces.get_piece_size()


def test_words_in_a_list_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps({"model": {"vocab": [["a", -1.0], ["b", -2.0]]}, "added_tokens": [{"id": 5}]}))
    assert num_tokens(str(file), "tokenizers") == 6


@pytest.mark.parametrize("form", FORMS)
def test_files_that_are_none(form: Any, tmp_path: Path) -> None:
    rows = pa.record_batch({"c": ["a"]})
    missing = str(tmp_path / "no.model")
    wrong = tmp_path / "wrong"
    wrong.write_bytes(b"\xff\xff not this")
    for file, what in ((missing, "no such file of a tokenizer"), (str(wrong), f"is no file of the package {form}")):
        with pytest.raises(ConfigError, match=what):
            num_tokens(file, form)
        with pytest.raises(ConfigError, match=what):
            Tokenize(column="c", file=file, form=form).apply(rows)


def test_a_file_without_tokens(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(ConfigError, match="holds no tokens"):
        num_tokens(str(tmp_path / "empty"), "sentencepiece")


def test_a_config_names_a_file_that_need_not_be_there_yet() -> None:
    assert Tokenize(column="c", file="no/such.json", form="tokenizers").inputs == ("c",)


@pytest.mark.parametrize("form", FORMS)
def test_without_the_package(files: dict[str, str], form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def without(name: str, package: str | None = None) -> Any:
        if name == form:
            raise builtins.ImportError(f"No module named {name}")
        return real(name, package)

    _tokenizer_files._loaded.cache_clear()
    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(ConfigError, match=rf"the package {form} is not installed; pip install 'polyrec\[text\]'"):
        tokenized(files, form, ["fox"])
    monkeypatch.undo()
    assert tokenized(files, form, ["fox"]).to_pylist() == [by_itself(files, form, "fox")]
