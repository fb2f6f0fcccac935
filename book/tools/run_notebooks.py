"""Run notebooks in place, so that the same sources always give the same bytes.

    python book/tools/run_notebooks.py                      # every notebook of _toc.yml
    python book/tools/run_notebooks.py book/appendix/errata.ipynb
    python book/tools/run_notebooks.py --resume             # only those not yet run as they stand

A notebook is replaced after it ran to its end, so an interruption or a failure leaves it whole.
"""

import argparse
import hashlib
import json
import os
import re
import signal
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from tqdm import tqdm

from notebook_rules import CELL_METADATA
from toc import ROOT, notebooks

STATE = ROOT / ".cache" / "notebooks.json"
CELL_SECONDS = 600
KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"


def main():
    arguments = parsed_arguments()
    state = json.loads(STATE.read_text()) if STATE.exists() else {}
    paths = [path.resolve() for path in arguments.notebooks] or notebooks()
    waiting = [p for p in paths if not (arguments.resume and state.get(key(p)) == fingerprint(p))]
    failures = []
    # Kernels inherit these: one thread and one hash seed, whoever starts the run.
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    os.environ["PYTHONHASHSEED"] = "0"
    with ProcessPoolExecutor(max_workers=2, initializer=ignore_interrupts) as pool:
        jobs = {pool.submit(run, path): path for path in waiting}
        try:
            for job in tqdm(as_completed(jobs), total=len(jobs), unit="notebook"):
                path = jobs[job]
                if failure := job.result():
                    failures.append(failure)
                    tqdm.write(failure, file=sys.stderr)
                else:
                    state[key(path)] = fingerprint(path)
                    save(STATE, json.dumps(state, indent=1, sort_keys=True) + "\n")
                    tqdm.write(f"done: {key(path)}")
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            sys.exit("Interrupted. What was finished is kept; --resume goes on from here.")
    if failures:
        sys.exit(f"{len(failures)} of {len(jobs)} notebooks failed; see above.")
    if arguments.resume:  # nothing is left to resume: the next run starts anew
        STATE.unlink(missing_ok=True)


def parsed_arguments():
    parser = argparse.ArgumentParser(description="Run notebooks in place.")
    parser.add_argument("notebooks", nargs="*", type=Path, help="none means all in _toc.yml")
    parser.add_argument("--resume", action="store_true", help="skip those already run as they are")
    return parser.parse_args()


def run(path):
    """Run one notebook and replace it; return what went wrong, if anything did."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.metadata = {
            name: cell.metadata[name] for name in CELL_METADATA if name in cell.metadata
        }
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    notebook.metadata = {"kernelspec": KERNEL}
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        record_timing=False,
        extra_arguments=["--log-level=CRITICAL"],
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        number = next(i for i, c in enumerate(notebook.cells) if has_error(c))
        return f"{key(path)}, cell {number}:\n{error}"
    except Exception as error:
        return f"{key(path)}: {type(error).__name__}: {error}"
    finally:
        ignore_interrupts()
    notebook.metadata["language_info"] = {"name": "python"}
    save(path, nbformat.writes(renumber_widgets(notebook)) + "\n")
    return None


def ignore_interrupts():
    """Leave Ctrl-C to the parent; while a notebook runs, nbclient ends its kernel."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def has_error(cell):
    return any(output.output_type == "error" for output in cell.get("outputs", []))


def renumber_widgets(notebook):
    """Widget models have random ids: number them in the order in which they were made."""
    state = notebook.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    number = {model: f"{i:032x}" for i, model in enumerate(state, start=1)}
    if not number:
        notebook.metadata.pop("widgets", None)
        return notebook
    text = re.sub("|".join(number), lambda match: number[match[0]], nbformat.writes(notebook))
    return nbformat.reads(text, as_version=4)


def fingerprint(path):
    """Changes with what the notebook is made from, not with its stored outputs."""
    digest = hashlib.sha256(shared_sources())
    for cell in nbformat.read(path, as_version=4).cells:
        digest.update(json.dumps([cell.cell_type, cell.source, cell.metadata]).encode())
    return digest.hexdigest()


@cache
def shared_sources():
    """The module and the data, which every notebook may use."""
    digest = hashlib.sha256()
    for file in sorted([*(ROOT / "fspca").rglob("*.py"), *(ROOT / "data").rglob("*.*")]):
        digest.update(file.read_bytes())
    return digest.digest()


def key(path):
    return os.path.relpath(path, ROOT)


def save(path, text):
    """Write beside the file and rename, so that nobody ever meets half a file."""
    path.parent.mkdir(exist_ok=True)
    beside = path.with_name(f".{path.name}.part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


if __name__ == "__main__":
    main()
