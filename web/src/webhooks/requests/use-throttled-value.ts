import { useEffect, useRef, useState } from 'react'

/** A value that changes at most this often, in milliseconds; the last one is never lost. */
export function useThrottledValue<T>(value: T, every = 400): T {
  const [calm, setCalm] = useState(value)
  const latest = useRef(value)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => {
    latest.current = value
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      setCalm(latest.current)
    }, every)
  }, [value, every])
  useEffect(
    () => () => {
      clearTimeout(timer.current)
      timer.current = undefined
    },
    [],
  )
  return calm ?? value
}
