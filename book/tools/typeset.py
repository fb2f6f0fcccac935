"""Print the whole book: all pages as one, set by a browser, with references that can be followed.

python book/tools/typeset.py _build/book.pdf
"""

import base64
import subprocess
import sys
from pathlib import Path

from browser import Browser
from toc import ROOT

SINGLE = ROOT / "_build" / "single"
FOOT = (
    '<div style="width:100%;text-align:center;font-size:8px"><span class="pageNumber"></span></div>'
)
# What a reader folds is open on paper, and what only works on a screen is not there.
PREPARE = """(() => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  for (const fold of document.querySelectorAll(".toggle-hidden")) {
    fold.classList.remove("toggle-hidden");
  }
})()"""


def build():
    """Make one page of all, from the stored outputs."""
    command = [sys.executable, "-m", "jupyter_book", "build", ".", "--all", "--path-output"]
    command += [str(SINGLE), "--builder", "custom", "--custom-builder", "singlehtml"]
    subprocess.run(command, cwd=ROOT, check=True)
    return SINGLE / "_build" / "singlehtml" / "index.html"


def set_pages(page, target):
    """Print a page to a file; return how many formulas it has."""
    with Browser(patience=900) as browser:
        browser.open(page)
        browser.run(PREPARE)
        paper = browser.ask(
            "Page.printToPDF", paperWidth=8.27, paperHeight=11.69, printBackground=True,
            generateDocumentOutline=True, generateTaggedPDF=True, displayHeaderFooter=True,
            headerTemplate="<span></span>", footerTemplate=FOOT, transferMode="ReturnAsBase64",
            marginTop=0.7, marginBottom=0.7, marginLeft=0.7, marginRight=0.7,
        )  # fmt: skip
        Path(target).write_bytes(base64.b64decode(paper["data"]))
        return browser.run("document.querySelectorAll('mjx-container').length")


if __name__ == "__main__":
    print(set_pages(build(), sys.argv[1]), "formulas")
