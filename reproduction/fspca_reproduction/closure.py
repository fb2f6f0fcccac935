"""Which code a row hangs on: a hash over the definitions that its function reaches, by names.

A definition reaches those of ours whose names it holds, and an experiment whose id it names, since
it reads that one's rows.  Of the TABLES count only the entries whose keys the reached code or the
row itself names.  What does not count: docstrings, comments, annotations, the words of a refusal,
the list of cases, and where a definition stands.
"""

import ast
import hashlib
import importlib
from functools import cache
from pathlib import Path

PACKAGES = ("fspca", "fspca_reproduction")
TABLES = {("fspca.registry", "SOLVERS"), ("fspca.datasets.catalogue", "CATALOGUE")}


class Bare(ast.NodeTransformer):
    """Leave out of a tree what no number can depend on."""

    def visit(self, node):
        if ast.get_docstring(node) if isinstance(node, DOCUMENTED) else False:
            node.body = node.body[1:] or [ast.Pass()]
        if hasattr(node, "decorator_list"):
            node.decorator_list = [d for d in node.decorator_list if not declares_cases(d)]
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            node.exc = node.exc.func
        for annotation in {"annotation", "returns"} & set(node._fields):
            setattr(node, annotation, None)
        return self.generic_visit(node)


DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def declares_cases(decorator):
    return isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "experiment"


def text(node):
    """Return a tree as text, the same in every version of Python: empty fields are left out."""
    if isinstance(node, ast.AST):
        fields = [(name, text(each)) for name, each in ast.iter_fields(node) if name != "ctx"]
        return f"{type(node).__name__}({', '.join(f'{n}={t}' for n, t in fields if t)})"
    if isinstance(node, list):
        return f"[{', '.join(map(text, node))}]" if node else ""
    return "" if node is None else repr(node)


@cache
def source_of(module):
    """Return the path of a module of ours, or None for anything else."""
    package, *rest = module.split(".")
    if package not in PACKAGES:
        return None
    for folder in importlib.import_module(package).__path__:
        inside = Path(folder, *rest)
        for path in (inside / "__init__.py", inside.with_suffix(".py")):
            if path.is_file():
                return path
    return None


@cache
def names_in(module):
    """Return a module's definitions, lists of trees by name, and what its imports mean."""
    path = source_of(module)
    defined, imported = {}, {}
    for statement in statements(ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            imported |= meanings(statement, module, path)
            continue
        tree = Bare().visit(statement)
        names = [tree.name] if isinstance(tree, DOCUMENTED) else bound(tree, defined)
        for name in names:
            defined.setdefault(name, []).append(tree)
    return defined, imported


def statements(body):
    """Yield the statements of a module, those within `if` and `try` too."""
    for statement in body:
        if isinstance(statement, ast.If | ast.Try | ast.With):
            inner = [getattr(statement, field, []) for field in ("body", "orelse", "finalbody")]
            handlers = [handler.body for handler in getattr(statement, "handlers", [])]
            for each in (*inner, *handlers):
                yield from statements(each)
        else:
            yield statement


def bound(statement, defined):
    """Return the names that a statement binds; if none, those before it that it may alter."""
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return stored or {node.id for node in names if node.id in defined}


def meanings(statement, module, path):
    """Return what an import's names stand for: (module, name), or (module, None) for a module."""
    if isinstance(statement, ast.Import):
        whole = [(each.asname or each.name.split(".")[0], each) for each in statement.names]
        return {name: (each.name if each.asname else name, None) for name, each in whole}
    base = statement.module or ""
    if statement.level:
        ancestors = module.split(".")[: None if path.name == "__init__.py" else -1]
        kept = ancestors[: len(ancestors) - statement.level + 1]
        base = ".".join([*kept, *([base] if base else [])])
    return {each.asname or each.name: (base, each.name) for each in statement.names}


@cache
def resolved(module, name):
    """Return (module, name) of the definition behind a name, None for a module's name, or None."""
    if source_of(module) is None:
        return None
    defined, imported = names_in(module)
    if name in defined:
        return module, name
    if imported.get(name, (module, name)) == (module, name):
        return (f"{module}.{name}", None) if source_of(f"{module}.{name}") else None
    return meaning(imported[name])


def meaning(pair):
    """Return what an imported pair stands for."""
    module, name = pair
    if name is None:
        return (module, None) if source_of(module) else None
    return resolved(module, name)


@cache
def content(module, name):
    """Return the text of a definition, what it reaches by name, and the strings within."""
    read = [read_tree(tree, module) for tree in names_in(module)[0][name]]
    texts, reached, strings = zip(*read, strict=True)
    return "\n".join(texts), set().union(*reached), set().union(*strings)


def read_tree(tree, module):
    """Return the text of a tree, the definitions that its names reach, and the strings within."""
    nodes = list(ast.walk(tree))
    local, reached = {}, set()
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            local |= meanings(node, module, source_of(module))
    owners = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        found = target(node, module, local)
        if found and found[1] is not None:
            reached.add(found)
        elif found and id(node) not in owners:  # a module as a value: any of it may be used
            reached |= {(found[0], each) for each in names_in(found[0])[0]}
    values = (node.value for node in nodes if isinstance(node, ast.Constant))
    return text(tree), reached, {value for value in values if isinstance(value, str)}


def target(node, module, local):
    """Return what a name, or an attribute of a module, stands for."""
    if isinstance(node, ast.Name):
        return meaning(local[node.id]) if node.id in local else resolved(module, node.id)
    if isinstance(node, ast.Attribute):
        owner = target(node.value, module, local)
        return resolved(owner[0], node.attr) if owner and owner[1] is None else None
    return None


@cache
def table_entries(module, name):
    """Return the entries of a table by key: (text, what they reach, strings)."""
    found = {}
    for tree in names_in(module)[0].get(name, []):
        found |= listed(tree)
    return {key: read_tree(node, module) for key, node in found.items()}


def listed(node):
    """Return what a dict lists by its keys, or a sequence of calls by their first arguments."""
    pairs = []
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
    elif isinstance(node, ast.Tuple | ast.List):
        pairs = [(each.args[0], each) for each in node.elts if getattr(each, "args", None)]
    found = {getattr(key, "value", None): value for key, value in pairs}
    if found and all(isinstance(key, str) for key in found):
        return found
    deeper = map(listed, ast.iter_child_nodes(node))
    return {key: value for each in deeper for key, value in each.items()}


def keys():
    """Return the keys of all tables: of a row's words only these matter."""
    return {key for table in TABLES if source_of(table[0]) for key in table_entries(*table)}


def reached(module, name, words=(), others=None):
    """Return the texts that a definition reaches, by (module, name) or (module, name, key).

    `words` are those of a row; `others` are modules by the ids of the experiments in them.
    """
    texts, strings, waiting, tables = {}, set(words), [(module, name)], set()
    while waiting:
        place = waiting.pop()
        if place in texts:
            continue
        if place in TABLES and table_entries(*place):
            tables.add(place)
        else:
            texts[place], found, said = content(*place)
            strings |= said
            waiting += found
        for other in strings & (others or {}).keys():
            waiting.append((others[other], other))
        for table in tables:
            for key in strings & table_entries(*table).keys():
                if (*table, key) not in texts:
                    texts[*table, key], found, said = table_entries(*table)[key]
                    strings |= said
                    waiting += found
    return texts


@cache
def hash_of(module, name, words=frozenset(), others=frozenset()):
    """Return the hash of what a definition reaches; `others` are pairs of an id and its module."""
    texts = reached(module, name, words, dict(others))
    listed = sorted((place[1:], text) for place, text in texts.items())
    return hashlib.sha256(repr(listed).encode()).hexdigest()[:16]


@cache
def all_code(*others):
    """Return a hash of every definition of ours, and of other files: for what may use any."""
    digest = hashlib.sha256(all_code().encode() if others else b"")
    ours = (
        path for package in PACKAGES for path in sorted(source_of(package).parent.rglob("*.py"))
    )
    for path in others or ours:
        tree = ast.parse(Path(path).read_text(encoding="utf-8"))
        digest.update(text(Bare().visit(tree)).encode())
    return digest.hexdigest()
