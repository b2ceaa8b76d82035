import { startTransition, useEffect, useState, type RefObject } from 'react'
import { usePrinting } from './printing.ts'

/** Pixels above and below the window. */
const MARGIN = '400px 0px'

/** Whether an element has been in or near the window, or is being printed. */
export function useNearWindow(element: RefObject<Element | null>): boolean {
  const [wasNear, setNear] = useState(false)
  const isPrinting = usePrinting()
  useEffect(() => {
    if (!element.current) return undefined
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return
        observer.disconnect()
        startTransition(() => setNear(true))
      },
      { rootMargin: MARGIN },
    )
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return wasNear || isPrinting
}
