// State of a section that isn't in the address: open folds and the focus.

const folds = (body) => [...body.querySelectorAll("details")];
// The text of a fold changes with its figures; its class doesn't.
const name = (control) => [control.tagName, control.id || control.ariaLabel || control.parentElement.className].join(" ");

/**
 * Saves the state. The returned function restores it in the redrawn section, or focuses `otherwise`
 * if the control is gone.
 */
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
