"""Whether the parts of a typed config fit together. Pure: looks at nothing but the config."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from polyrec import storage
from polyrec.config import Group, GroupInput, RunConfig
from polyrec.errors import nearest
from polyrec.families import FeatureConfig
from polyrec.networks import inputs_of

Found = list[tuple[str, str]]
"""Paths in the config, and what is wrong there."""


def check(config: RunConfig) -> Found:
    """Everything that keeps the config from running."""
    found = _names(config) + _derived(config)
    for index, group in enumerate(config.groups):
        found += _group(config, group, f"groups[{index}]")
    # Widths are known only when all that groups name is there.
    found = found or _readings(config)
    found += _sampler(config) + _model(config)
    found = found or _widths(config)
    return found + _tasks(config) + _masking(config) + _ends(config) + _places(config)


def notes(config: RunConfig) -> Found:
    """What is strange and harms nothing: parts that nothing uses."""
    items = [item for group in config.groups for item in group.inputs]
    features = {item.feature for item in items}
    used = {name for feature in config.features for name in feature.inputs}
    used |= {name for item in config.derived for name in item.operator.inputs} | set(config.group_columns)
    tables = {item.table for item in items}
    known = set(config.model.groups)
    known |= {reading.group for group in config.groups if group.name in known for reading in group.readings}
    found = [
        (f"features[{index}].name", f"no group has the feature {feature.name}")
        for index, feature in enumerate(config.features)
        if feature.name not in features
    ]
    found += [
        (f"derived[{index}].name", f"nothing reads the column {item.name}")
        for index, item in enumerate(config.derived)
        if item.name not in used
    ]
    found += [
        (f"tables[{index}].name", f"nothing looks up the table {table.name}")
        for index, table in enumerate(config.tables)
        if table.name not in tables
    ]
    found += [
        (f"groups[{index}].name", f"{config.model.kind} does not read the group {group.name}")
        for index, group in enumerate(config.groups)
        if group.name not in known and not _is_misspelt(config, group)
    ]
    found += [
        (f"tasks[{index}].label", f"{task.label} is also an input of a feature, so the model sees it")
        for index, task in enumerate(config.tasks)
        if task.label in config.feature_columns
    ]
    return found


def check_columns(config: RunConfig, names: Iterable[str], *, is_training: bool = True) -> Found:
    """Features, labels, weights and costs whose columns the data does not have."""
    known = set(names)
    derived = {item.name for item in config.derived}
    readers = [(f"features[{index}]", feature.inputs) for index, feature in enumerate(config.features)]
    readers += [(f"derived[{index}].operator", item.operator.inputs) for index, item in enumerate(config.derived)]
    wanted = [(path, column) for path, inputs in readers for column in inputs if column not in derived]
    wanted += [(f"tasks[{index}].label", task.label) for index, task in enumerate(config.tasks)]
    wanted += [
        (f"tasks[{index}]", column)
        for index, task in enumerate(config.tasks)
        for column in config.columns_behind(task.group_columns)
    ]
    wanted += [("data.sampler", column) for column in config.data.sampler.inputs] if config.data.sampler else []
    wanted += [("data.cost_column", config.data.cost_column)] if config.data.cost_column and is_training else []
    wanted += [(f"tasks[{i}].sample_weight", task.sample_weight) for i, task in enumerate(config.tasks)
               if task.sample_weight]  # fmt: skip
    return [
        (path, f"the data has no column {column}{nearest(column, known) or _known(known)}")
        for path, column in wanted
        if column not in known
    ]


def _known(names: Iterable[str], limit: int = 20) -> str:
    ordered = sorted(filter(None, names))
    more = f" and {len(ordered) - limit} more" if len(ordered) > limit else ""
    return f"; known: {', '.join(ordered[:limit]) or 'none'}{more}"


def _names(config: RunConfig) -> Found:
    found = []
    kinds: dict[str, Sequence[str]] = {
        "derived": [item.name for item in config.derived],
        "features": [feature.name for feature in config.features],
        "tables": [table.name for table in config.tables],
        "groups": [group.name for group in config.groups],
        "tasks": [task.name for task in config.tasks],
    }
    for kind, names in kinds.items():
        first: dict[str, int] = {}
        for index, name in enumerate(names):
            if name in first:
                shown = name or "the empty name"
                found.append((f"{kind}[{index}].name", f"{shown} is already the name of {kind}[{first[name]}]"))
            first.setdefault(name, index)
            if not name and kind != "tasks":
                found.append((f"{kind}[{index}].name", "needs a name that is not empty"))
    return found


def _derived(config: RunConfig) -> Found:
    """Columns that would be made of themselves, and sequences that an operator does not read."""
    found: Found = []
    index = {item.name: number for number, item in enumerate(config.derived)}
    reads = {item.name: [name for name in item.operator.inputs if name in index] for item in config.derived}
    free: set[str] = set()
    while ready := [name for name, inputs in reads.items() if name not in free and free.issuperset(inputs)]:
        free.update(ready)
    for name, number in index.items():
        # Only what stands in a circle; the rest of what is not free reads from one.
        if name not in free and name in _behind(reads, reads[name]):
            text = f"{name} is made of itself, by way of {', '.join(reads[name])}; take one of them out"
            found.append((f"derived[{number}].operator", text))
    for number, item in enumerate(config.derived):
        for name in item.each_position.columns if item.each_position else ():
            if name not in item.operator.inputs:
                hint = nearest(name, item.operator.inputs) or _known(item.operator.inputs)
                path = f"derived[{number}].each_position.columns"
                found.append((path, f"{item.name} does not read the column {name}{hint}"))
    return found


def _behind(reads: Mapping[str, Sequence[str]], names: Sequence[str]) -> set[str]:
    """The names and all that they are made of."""
    found: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += reads[name]
    return found


def _group(config: RunConfig, group: Group, path: str) -> Found:
    found: Found = []
    # Of several of one name the first counts, so that only the later ones are told of.
    features = {feature.name: feature for feature in reversed(config.features)}
    tables = {table.name: table for table in reversed(config.tables)}
    seen: set[str] = set()
    shapes: set[bool] = set()
    for index, item in enumerate(group.inputs):
        at = f"{path}.inputs[{index}]"
        feature = features.get(item.feature)
        if feature is None:
            hint = nearest(item.feature, features) or _known(features)
            found.append((f"{at}.feature", f"no feature is called {item.feature}{hint}"))
            continue
        if item.feature in seen:
            found.append((f"{at}.feature", f"{item.feature} is in the group {group.name} already"))
        seen.add(item.feature)
        shapes.add(feature.is_sequence)
        found += _number_embedding(item, feature, at)
        if feature.is_sequence and group.kind == "flat" and item.table is None:
            found.append((f"{at}.feature", f"{item.feature} is a sequence of numbers and {group.name} is a flat group"))
        if item.table is None:
            if feature.rows is not None:
                found.append((f"{at}.table", f"is required: {item.feature} is a feature of ids{_known(tables)}"))
            continue
        if feature.rows is None:
            found.append((f"{at}.table", f"{item.feature} is a feature of numbers, which look up no table"))
        elif item.table not in tables:
            hint = nearest(item.table, tables) or _known(tables)
            found.append((f"{at}.table", f"no table is called {item.table}{hint}"))
        elif tables[item.table].collisions is None and tables[item.table].rows < feature.rows:
            rows = tables[item.table].rows
            found.append((f"{at}.table", f"{item.table} has {rows} rows, {item.feature} needs {feature.rows}"))
    found += _names_of_readings(config, group, path)
    if group.kind == "sequence" and shapes == {False}:
        found.append((f"{path}.inputs", f"{group.name} is a sequence group and none of its features is a sequence"))
    return found


def _number_embedding(item: GroupInput, feature: FeatureConfig, at: str) -> Found:
    if item.embedding is None:
        return []
    at, most = f"{at}.embedding", item.embedding.most_numbers
    if item.table is not None or feature.rows is not None:
        return [(at, f"{item.feature} is a feature of ids, which tables make vectors of")]
    if most is not None and feature.width > most:
        return [(at, f"{item.embedding.kind} takes {most} number, {item.feature} has {feature.width}")]
    return []


def _names_of_readings(config: RunConfig, group: Group, path: str) -> Found:
    found: Found = []
    kinds = {other.name: other.kind for other in config.groups}
    for index, reading in enumerate(group.readings):
        at = f"{path}.readings[{index}]"
        sequences = [name for name, kind in kinds.items() if kind == "sequence"]
        if group.kind != "flat":
            found.append((at, f"{group.name} is a sequence group; flat groups have readings"))
        if reading.group not in kinds:
            hint = nearest(reading.group, sequences) or _known(sequences)
            found.append((f"{at}.group", f"no group is called {reading.group}{hint}"))
        elif kinds[reading.group] != "sequence":
            found.append((f"{at}.group", f"{reading.group} is a flat group; only sequence groups are read"))
    return found


def _readings(config: RunConfig) -> Found:
    """Sequence groups that an encoder cannot read, for their widths."""
    inputs = inputs_of(config)
    found: Found = []
    for number, group in enumerate(config.groups):
        for index, reading in enumerate(group.readings):
            widths = [inputs.width(f"{reading.group}.{end}") for end in ("query", "sequence")]
            fault = reading.encoder.fault(*widths)
            if fault is not None:
                found.append((f"groups[{number}].readings[{index}].encoder", f"{reading.group}: {fault}"))
    return found


def _sampler(config: RunConfig) -> Found:
    """Whether sampled items reach the model, and nothing is half of an item and half of a row."""
    sampler = config.data.sampler
    if sampler is None or sampler.adds == "rows":
        return _of_sampled_items(config, has_items=False)
    if not config.model.takes_sampled_items:
        return [("data.sampler", f"{config.model.kind} takes no sampled items; remove the sampler")]
    columns, of_items = set(sampler.item_columns), config.item_features
    found: Found = []
    if not of_items:
        found.append(("data.sampler", f"no feature is made of the columns of its items: {', '.join(sorted(columns))}"))
    for index, feature in enumerate(config.features):
        behind = config.columns_behind(feature.inputs)
        mixed = columns.intersection(behind)
        if mixed and feature.name not in of_items:
            rest = ", ".join(name for name in behind if name not in columns)
            text = f"{feature.name} is made of {', '.join(sorted(mixed))}, which sampled items have, and of {rest}"
            found.append((f"features[{index}]", f"{text}, which they do not have; keep the two apart"))
    groups = {group.name: group for group in config.groups}
    for number, group in enumerate(config.groups):
        read = [groups[reading.group] for reading in group.readings if reading.group in groups]
        names = {item.feature for part in (group, *read) for item in part.inputs}
        if of_items & names and names - of_items:
            text = f"has features of items ({', '.join(sorted(of_items & names))}) and of rows"
            text += f" ({', '.join(sorted(names - of_items))}), which a sampler keeps apart; make two groups of it"
            found.append((f"groups[{number}]", f"{group.name} {text}"))
    return found + _of_sampled_items(config, has_items=True)


def _of_sampled_items(config: RunConfig, *, has_items: bool) -> Found:
    """Losses and metrics that compare with sampled items, where there are none, and the other way round."""
    found: Found = []
    for number, task in enumerate(config.tasks):
        parts = [(f"losses[{index}].loss", item.loss) for index, item in enumerate(task.losses)]
        parts += [(f"metrics[{index}]", metric) for index, metric in enumerate(task.metrics)]
        parts += [(f"train_metrics[{index}].metric", item.metric) for index, item in enumerate(task.train_metrics)]
        for at, part in parts:
            if part.of_sampled_items and not has_items:
                text = f"{part.title} compares with sampled items; set data.sampler, or choose another"
                found.append((f"tasks[{number}].{at}", text))
            elif has_items and not part.of_sampled_items:
                text = f"{part.title} takes no sampled items; use sampled_softmax and recall_at_k, or no sampler"
                found.append((f"tasks[{number}].{at}", text))
    return found


def _is_misspelt(config: RunConfig, group: Group) -> bool:
    """Whether a group that the model does not read stands where one that it reads is missing."""
    missing = set(config.model.groups) - {other.name for other in config.groups}
    return bool(nearest(group.name, missing))


def _model(config: RunConfig) -> Found:
    found: Found = []
    given = {group.name: (index, group) for index, group in enumerate(config.groups)}
    for name, kind in config.model.groups.items():
        if name not in given:
            hint = nearest(name, given) or _known(given)
            path = _path_of(config.model.model_dump(), name, "model")
            found.append((path, f"{config.model.kind} reads the group {name}, which is not there{hint}"))
        elif given[name][1].kind != kind:
            index = given[name][0]
            found.append((f"groups[{index}].kind", f"{config.model.kind} needs {name} to be a {kind} group"))
    return found


def _widths(config: RunConfig) -> Found:
    """Inputs that do not go with the model, for their widths or for the tasks."""
    model, inputs = config.model, inputs_of(config)
    found: Found = []
    for number, group in enumerate(config.groups):
        if group.name not in model.equally_wide:
            continue
        parts = [(f"inputs[{index}].feature", item.feature) for index, item in enumerate(group.inputs)]
        parts += [(f"readings[{index}].group", item.group) for index, item in enumerate(group.readings)]
        widths = inputs.fields[group.name]
        for (path, name), width in zip(parts, widths, strict=True):
            if width != widths[0]:
                text = f"the inputs of {group.name} must be equally wide for {model.kind}, but {name} is {width} wide"
                found.append((f"groups[{number}].{path}", f"{text} and {parts[0][1]} {widths[0]}"))
                break
    return found or [(f"model.{path}", text) for path, text in model.faults(inputs)]


def _path_of(value: Any, wanted: str, path: str) -> str:
    """The first path at or below `path` that has a value, or `path` itself."""
    items: Any = ()
    if isinstance(value, dict):
        items = ((f"{path}.{name}", item) for name, item in value.items())
    elif isinstance(value, list | tuple):
        items = ((f"{path}[{index}]", item) for index, item in enumerate(value))
    for at, item in items:
        if item == wanted:
            return at
        found = _path_of(item, wanted, at)
        if found != at:
            return found
    return path


def _tasks(config: RunConfig) -> Found:
    found: Found = []
    for index, task in enumerate(config.tasks):
        if not task.label:
            found.append((f"tasks[{index}].label", "needs the name of a column"))
    return found


def _masking(config: RunConfig) -> Found:
    """Features that cannot be hidden: those that a row must have, and sequences without those beside them."""
    found: Found = []
    masking, features = config.data.masking, config.feature_names
    hidden = set(masking.features) if masking else set()
    for index, name in enumerate(masking.features if masking else ()):
        path = f"data.masking.features[{index}]"
        if name not in features:
            found.append((path, f"no feature is called {name}{nearest(name, features) or _known(features)}"))
            continue
        feature = features[name]
        if feature.rows is None and not feature.is_sequence and getattr(feature, "default", 0.0) is None:
            found.append((path, f"{name} has no default, which a row in which it is hidden needs"))
        for group in config.groups if feature.is_sequence else ():
            beside = [item.feature for item in group.inputs if item.feature in features]
            left = [other for other in beside if features[other].is_sequence and other not in hidden]
            if group.kind == "sequence" and name in beside and left:
                text = f"{left[0]} stands beside {name} in the group {group.name}; hide both or none"
                found.append((path, text))
    return found


def _ends(config: RunConfig) -> Found:
    found: Found = []
    saving = config.train.saving
    if "{step}" not in saving.folder and "{epoch}" not in saving.folder and saving.keep != 1:
        found.append(("train.saving.folder", "needs {step} or {epoch}, else each checkpoint replaces the last"))
    return found


def _places(config: RunConfig) -> Found:
    """Paths that are URLs of unknown stores, or that hold passwords, which would be saved with the config."""
    paths = [("model_dir", config.model_dir), ("train.fine_tune_from", config.train.fine_tune_from or "")]
    for name, given in (("train", config.data.train), ("evaluate", config.data.evaluate)):
        paths += [(f"data.{name}[{i}]", part) for i, path in enumerate(given) for part in path.split(",")]
    return [(at, f"{storage.masked(path)}: {wrong}") for at, path in paths if (wrong := storage.fault(path.strip()))]
