/** Milliseconds to wait for a form whose screen is loading. */
const PATIENCE_MS = 5_000

/** Focuses the field with that name once the screen shows it. */
export function focusField(name: string): void {
  const find = () => document.querySelector<HTMLElement>(`main [name="${name}"]`)
  // A field behind an outline cannot take the focus yet.
  const focus = () => {
    const field = find()
    field?.focus()
    return field !== null && document.activeElement === field
  }
  if (focus()) return
  const observer = new MutationObserver(() => focus() && observer.disconnect())
  observer.observe(document.body, { childList: true, subtree: true })
  setTimeout(() => observer.disconnect(), PATIENCE_MS)
}
