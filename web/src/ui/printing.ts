import { useSyncExternalStore } from 'react'

let isPrinting = false

function follow(changed: () => void): () => void {
  const set = (to: boolean) => () => {
    isPrinting = to
    changed()
  }
  const [begin, end] = [set(true), set(false)]
  window.addEventListener('beforeprint', begin)
  window.addEventListener('afterprint', end)
  return () => {
    window.removeEventListener('beforeprint', begin)
    window.removeEventListener('afterprint', end)
  }
}

/** Whether the page is being printed: paper shows what the screen shows only after an action. */
export const usePrinting = () => useSyncExternalStore(follow, () => isPrinting)
