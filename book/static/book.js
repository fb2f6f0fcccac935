document.addEventListener("DOMContentLoaded", () => {
  // Widgets typeset their labels with MathJax 2's call; the book carries MathJax 3.
  if (window.MathJax?.startup) {
    const typeset = (element) =>
      MathJax.startup.promise.then(() => MathJax.typesetPromise([element]));
    MathJax.Hub = { Queue: ([, , element]) => typeset(element) };
  }
  // A slider's handle gets its label as its name, for those who hear the page.
  const nameSliders = () => {
    for (const handle of document.querySelectorAll(".noUi-handle:not([aria-label])")) {
      const label = handle.closest(".jupyter-widgets")?.querySelector(".widget-label");
      handle.setAttribute("aria-label", label?.textContent.trim() || "value");
    }
  };
  new MutationObserver(nameSliders).observe(document.body, { childList: true, subtree: true });
});
