import { startTransition, useEffect, useRef, useState, type RefObject } from 'react'

/**
 * How many pixels wide an element is, now and when that changes; 0 until it is known. What is drawn
 * then is rendered in short steps.
 */
export function useWidth<T extends HTMLElement>(): [RefObject<T | null>, number] {
  const element = useRef<T>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (!element.current) return undefined
    const observer = new ResizeObserver(([entry]) =>
      startTransition(() => setWidth(Math.floor(entry?.contentRect.width ?? 0))),
    )
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return [element, width]
}
