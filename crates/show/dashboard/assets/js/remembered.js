// What is done to a section without the address knowing it: folds that are open, and where the focus is.

const folds = (body) => [...body.querySelectorAll("details")];
// A fold's own words change with its figures; its class doesn't.
const name = (control) => [control.tagName, control.id || control.ariaLabel || control.parentElement.className].join(" ");

/** Remembers them; the function returned opens and focuses the same again in what was drawn since, or `otherwise` where that isn't there any more. */
export function remembered(body) {
  const open = new Set(folds(body).filter((fold) => fold.open).map((fold) => fold.className));
  const focused = body.contains(document.activeElement) ? name(document.activeElement) : null;
  return (otherwise) => {
    for (const fold of folds(body)) fold.open = open.has(fold.className);
    if (focused === null) return;
    const again = [...body.querySelectorAll("a[href], button, input, summary, [tabindex]")].find((control) => name(control) === focused);
    (again ?? otherwise).focus();
  };
}
