"""Sphinx extension: references that read as words resolve in the book too.

A notebook links to a section by its heading, as JupyterLab names it, so that the link works there.
To a theorem, an equation or a reference it links by label, `[Go's theorem](#thm-go)`: plain viewers
show the words, and the book finds the label here.
"""

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform


def heading_slug(title):
    """The name that JupyterLab and nbconvert give to a heading."""
    return title.replace(" ", "-")


def name_statements(app, env):
    """Theorems and the bibliography's entries are what words may link to."""
    labels = env.get_domain("std").anonlabels
    for name, statement in getattr(env, "proof_list", {}).items():
        labels[name] = statement["docname"], name
    for entry in env.get_domain("cite").citations:
        labels[entry.key] = entry.bibliography_key.docname, entry.citation_id


class NumberEquations(SphinxPostTransform):
    """A link to an equation shows its number after the words."""

    default_priority = 5  # before MyST looks for what the link leads to

    def run(self):
        equations = self.env.get_domain("math")
        labels = self.env.get_domain("std").anonlabels
        for link in self.document.findall(addnodes.pending_xref):
            number = equations.get_equation_number_for(link["reftarget"])
            if link["reftype"] == "myst" and number:
                page, _ = equations.equations[link["reftarget"]]
                name = nodes.make_id(f"equation-{link['reftarget']}")
                labels[link["reftarget"].lower()] = page, name
                link[0] += nodes.Text(f" ({number})")


def setup(app):
    app.connect("env-updated", name_statements, priority=900)
    app.add_post_transform(NumberEquations)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
