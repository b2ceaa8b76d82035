let isUsed = false

/** Events with which a user begins to use a page; assistive technology sends only clicks. */
const EVENTS = ['pointerdown', 'keydown', 'click', 'input']

/** Whether the user has pressed a key or touched something since the page was loaded. */
export const hasInteracted = () => isUsed

function begin(): void {
  isUsed = true
  for (const name of EVENTS) window.removeEventListener(name, begin, true)
}

/** Call it once, at the start. */
export function watchInteraction(): void {
  for (const name of EVENTS) window.addEventListener(name, begin, true)
}
