import { useEffect, useRef, type RefObject } from 'react'

/**
 * Scrolls an element into the window, no further than needed, whenever `wanted` becomes true,
 * because it shows something new.
 */
export function useInView<T extends HTMLElement>(wanted: unknown): RefObject<T | null> {
  const element = useRef<T>(null)
  const isWanted = Boolean(wanted)
  useEffect(() => {
    if (isWanted) element.current?.scrollIntoView({ block: 'nearest' })
  }, [isWanted])
  return element
}
