"""Run notebooks in place, so that the same sources always give the same bytes.

    python book/tools/run_notebooks.py                      # every notebook of _toc.yml
    python book/tools/run_notebooks.py errata               # or book/appendix/errata.ipynb
    python book/tools/run_notebooks.py --resume             # those that this pass has not yet run

A pass is one `make reproduce`, which removes its state when it has come to its end.

A notebook is replaced after it ran to its end, so an interruption or a failure leaves it whole.
"""

import argparse
import hashlib
import json
import os
import signal
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from itertools import chain
from pathlib import Path

import nbformat
from fspca.datasets.files import write_whole
from fspca_reproduction import checkout
from fspca_reproduction.runner import attend, made, note
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from tqdm import tqdm

from notebook_rules import CELL_METADATA
from toc import ROOT, notebooks

CELL_SECONDS = 600
WIDGET = "application/vnd.jupyter.widget-view+json"
START = ROOT / "book" / "tools" / "kernel_start.py"
KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}


def main():
    arguments = parsed_arguments()
    paths = [chapter(name) for name in arguments.notebooks] or notebooks()
    waiting = [path for path in paths if not (arguments.resume and is_made(path))]
    failures = []
    # Kernels inherit these: one thread, one hash seed, one kernel, whoever starts the run.
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    os.environ.update(PYTHONHASHSEED="0", OPENBLAS_CORETYPE="Haswell", PYTHONSTARTUP=str(START))
    with ProcessPoolExecutor(max_workers=2, initializer=attend) as pool:
        jobs = {pool.submit(run, path): path for path in waiting}
        try:
            for job in tqdm(as_completed(jobs), total=len(jobs), unit="notebook"):
                path = jobs[job]
                if failure := job.result():
                    failures.append(failure)
                    tqdm.write(failure, file=sys.stderr)
                else:
                    if arguments.resume:
                        note(key(path), fingerprint(path))
                    tqdm.write(f"done: {key(path)}")
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            goes_on = ", and the same command goes on from there" if arguments.resume else ""
            sys.exit(f"Interrupted: the notebooks that were finished are kept{goes_on}.")
    if failures:
        sys.exit(f"{len(failures)} of {len(jobs)} notebooks failed; see above.")


def parsed_arguments():
    parser = argparse.ArgumentParser(description="Run notebooks in place.")
    parser.add_argument("notebooks", nargs="*", help="paths or names; none: all in _toc.yml")
    parser.add_argument("--resume", action="store_true", help="skip what this pass has run")
    return parser.parse_args()


def chapter(name):
    """The notebook that is meant by a path, or by a bare name."""
    known = {path.stem: path for path in notebooks()}
    path = known.get(name, Path(name).resolve())
    if path.suffix != ".ipynb" or not path.exists():
        sys.exit(f"There is no notebook {name!r}; the chapters are {', '.join(known)}.")
    return path


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
        startup_timeout=CELL_SECONDS,  # of a machine that is busy
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
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = joined(cell.outputs)
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET, None)  # which lives as long as its kernel
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    try:
        write_whole(path, nbformat.writes(notebook) + "\n")
    except OSError as error:
        return f"{key(path)}: {error}"
    return None


def ignore_interrupts():
    """Leave Ctrl-C to the parent; while a notebook runs, nbclient ends its kernel."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def has_error(cell):
    return any(output.output_type == "error" for output in cell.get("outputs", []))


def joined(outputs):
    """How often a stream was flushed is chance: join the pieces that follow each other."""
    result = []
    for output in outputs:
        last = result[-1] if result else None
        if last and "stream" == output.output_type == last.output_type and output.name == last.name:
            last.text += output.text
        else:
            result.append(output)
    return result


def is_made(path):
    """Say whether this pass has run a notebook, with the code of the same clean commit."""
    made_from = fingerprint(path)
    return made_from is not None and made().get(key(path)) == made_from


def fingerprint(path):
    """Changes with what the notebook is made from, not with its stored outputs.

    There is none where files of the code are not committed.
    """
    if (trees := checkout.trees()) is None:
        return None
    digest = hashlib.sha256(trees.encode() + data_digest())
    for cell in nbformat.read(path, as_version=4).cells:
        digest.update(json.dumps([cell.cell_type, cell.source, cell.metadata]).encode())
    return digest.hexdigest()


@cache
def data_digest():
    """The data, which every notebook may use; how long results took is chance."""
    digest = hashlib.sha256()
    data = chain((ROOT / "data").rglob("*.*"), (ROOT / "fspca" / "datasets" / "raw").iterdir())
    for file in sorted(data):
        if file.is_file() and not file.name.startswith("."):
            digest.update(without_seconds(file) if file.suffix == ".json" else file.read_bytes())
    return digest.digest()


def without_seconds(file):
    def drop(pairs):
        return {name: value for name, value in pairs if name not in ("seconds", "stamps", "made")}

    return json.dumps(json.loads(file.read_text(), object_pairs_hook=drop)).encode()


def key(path):
    return os.path.relpath(path, ROOT)


if __name__ == "__main__":
    main()
